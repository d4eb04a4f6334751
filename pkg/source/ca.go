package source

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const hintCA = "Set --source-ca-file to a file of PEM certificates (-----BEGIN CERTIFICATE-----), without a key."

// ReadCA reads certificates from a file, and returns nothing else, as the result is copied to both clusters. It refuses
// a file with another PEM block, such as a key. Its errors are faults Usage.
func ReadCA(file string) ([]byte, error) {
	if _, err := regular(file); err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the certificates: %w", err), fault.Usage, hintCA)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the certificates: %w", err), fault.Usage, hintCA)
	}
	var kept bytes.Buffer
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil,
				fault.New(fault.Usage, fmt.Sprintf("certificates %s: it contains a %s", file, block.Type), hintCA)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return nil, fault.Wrap(fmt.Errorf("certificates %s: %w", file, err), fault.Usage, hintCA)
		}
		if err := pem.Encode(&kept, block); err != nil {
			return nil, err
		}
	}
	if kept.Len() == 0 {
		return nil, fault.New(fault.Usage, fmt.Sprintf("certificates %s: it contains none", file), hintCA)
	}
	return kept.Bytes(), nil
}
