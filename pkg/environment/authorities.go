package environment

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/util/keyutil"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// authoritiesPath is where the values have Authorities.
const authoritiesPath = "cluster.certificate_authorities"

// Authorities are the cluster's own certificate authorities by name. One without a private key is generated.
type Authorities map[string]Authority

// Authority is a key pair in PEM.
type Authority struct {
	Certificate string `json:"certificate"`
	PublicKey   string `json:"public_key"` // of service accounts, which have no certificate
	PrivateKey  string `json:"private_key"`
}

// leastValidity is how long an authority must still be valid: kubeadm and RKE2 make certificates for a year.
const leastValidity = 366 * 24 * time.Hour

// checkAuthorities returns the mistakes in the cluster's authorities. The errors contain no key.
func (e *Environment) checkAuthorities(now time.Time) error {
	var problems []error
	names := map[string]string{} // of authorities by certificate
	all := e.spec.Cluster.Authorities
	for _, name := range sortedKeys(all) {
		authority := all[name]
		public := cmp.Or(authority.Certificate, authority.PublicKey)
		if public == "" || authority.PrivateKey == "" { // the chart reports an incomplete one
			continue
		}
		key, err := publicKey(authority, now)
		if err == nil {
			err = fits(key, authority.PrivateKey)
		}
		if other, known := names[public]; err == nil && known {
			err = fmt.Errorf("it is also that of %s: each needs one of its own", other)
		}
		names[public] = name
		if err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("%s.%s: %w", authoritiesPath, name, err),
				fault.ValuesInvalid,
				"Give a certificate authority that is valid for more than a year, and its private key."))
		}
	}
	return fault.Join(problems...)
}

// publicKey returns the key of an authority that may sign certificates, or of service accounts.
func publicKey(a Authority, now time.Time) (crypto.PublicKey, error) {
	block, rest := pem.Decode([]byte(cmp.Or(a.Certificate, a.PublicKey)))
	if another, _ := pem.Decode(rest); block == nil || another != nil {
		return nil, errors.New("it is not one PEM block")
	}
	if a.Certificate == "" {
		return x509.ParsePKIXPublicKey(block.Bytes)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the certificate: %w", err)
	case !certificate.BasicConstraintsValid || !certificate.IsCA ||
		certificate.KeyUsage != 0 && certificate.KeyUsage&x509.KeyUsageCertSign == 0:
		return nil, errors.New("the certificate is not that of an authority: it must not sign others")
	case now.Before(certificate.NotBefore):
		return nil, fmt.Errorf("the certificate is valid from %s on", certificate.NotBefore.Format(time.DateOnly))
	case now.Add(leastValidity).After(certificate.NotAfter):
		return nil, fmt.Errorf("the certificate expires on %s, before the certificates that it would sign",
			certificate.NotAfter.Format(time.DateOnly))
	}
	return certificate.PublicKey, nil
}

// fits returns an error if a private key in PEM does not belong to a public key, or kubeadm cannot use it.
func fits(public crypto.PublicKey, private string) error {
	key, err := keyutil.ParsePrivateKeyPEM([]byte(private))
	if err != nil {
		return errors.New("the private key cannot be read") // the cause may quote it
	}
	var same bool
	switch typed := key.(type) {
	case *rsa.PrivateKey:
		same = typed.PublicKey.Equal(public)
	case *ecdsa.PrivateKey:
		same = typed.PublicKey.Equal(public)
	default:
		return errors.New("the private key is neither RSA nor ECDSA")
	}
	if !same {
		return errors.New("the private key does not belong to it")
	}
	return nil
}
