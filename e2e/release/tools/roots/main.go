// Command roots writes the certificate authorities that Mozilla trusts, in PEM: those of the module
// golang.org/x/crypto/x509roots/fallback. The image of a release gets them, and not those of the machine that makes it.
package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "roots:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("takes one FILE, not %d", len(args))
	}
	var out bytes.Buffer
	for root := range bundle.Roots() {
		// A PEM file cannot say that Mozilla trusts an authority only in part, so those stay out.
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return err
		}
	}
	return os.WriteFile(args[0], out.Bytes(), 0o644)
}
