// Command runtime-shim is an OCI runtime that stands in front of runc on hosts without CAP_SYS_RESOURCE (nested
// virtual machines, some CI runners). There `docker run --privileged` asks runc for every capability and runc fails
// with "unable to apply caps". The shim takes that one capability out of the request, thaws what would keep a container
// from dying, and then becomes runc.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "runtime-shim:", err)
		os.Exit(1)
	}
}

// run edits the file that runc is about to read, if any, and replaces this process by runc.
func run(args []string) error {
	if file := requestFile(args[1:]); file != "" {
		if err := dropFromFile(file); err != nil {
			return err
		}
	}
	if err := thaw(freezers, args[1:]); err != nil { // runc may succeed all the same
		fmt.Fprintln(os.Stderr, "runtime-shim:", err)
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return fmt.Errorf("find runc: %w", err)
	}
	return syscall.Exec(runc, append([]string{"runc"}, args[1:]...), os.Environ())
}
