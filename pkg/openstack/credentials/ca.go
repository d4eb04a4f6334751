package credentials

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
)

// certificates reads the CA from OPENSTACK_CLOUD_CACERT_B64, or from the file at path. It returns nil without either,
// and otherwise only the certificates in it.
func (f finder) certificates(path string) ([]byte, error) {
	text, where := []byte(nil), "OPENSTACK_CLOUD_CACERT_B64"
	encoded := strings.TrimSpace(f.get(where))
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return nil, missing(where+" is not base64", "Give it the output of `base64 -w0 ca.pem`.")
	case strings.TrimSpace(string(decoded)) != "":
		// the env.rc of Cluster API's provider encodes a line feed if there is none
		text = decoded
	case path != "":
		where = f.expand(path)
		read, err := os.ReadFile(where)
		if err != nil {
			return nil, missing(fmt.Sprintf("reading the cloud's CA certificate (cacert, OS_CACERT): %v", err),
				"A relative path starts at the current folder.")
		}
		text = read
	default:
		return nil, nil
	}
	kept := onlyCertificates(text)
	if len(kept) == 0 {
		return nil, missing(fmt.Sprintf("%s contains no certificate in PEM", where),
			"Give the certificates of the authority that signed the cloud's endpoints.")
	}
	return kept, nil
}

// onlyCertificates removes what else a file may contain, most of all a private key.
func onlyCertificates(text []byte) []byte {
	var kept bytes.Buffer
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return kept.Bytes()
		}
		if _, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			_ = pem.Encode(&kept, &pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}) // a buffer takes all
		}
		text = rest
	}
}
