package environment

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
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

// leastValidity is how long the authority of a new cluster must still be valid: kubeadm and RKE2 make certificates for
// a year.
const leastValidity = 366 * 24 * time.Hour

// checkAuthorities returns the mistakes in the cluster's authorities. The errors contain no key.
func (e *Environment) checkAuthorities(now time.Time) error {
	var problems []error
	names := map[string]string{} // of authorities by public key
	all := e.spec.Cluster.Authorities
	for _, name := range sortedKeys(all) {
		authority := all[name]
		if cmp.Or(authority.Certificate, authority.PublicKey) == "" || authority.PrivateKey == "" {
			continue // the chart reports an incomplete one
		}
		key, err := authority.check(now)
		if other, known := names[key]; err == nil && known {
			err = fmt.Errorf("it has the key of %s: each needs one of its own", other)
		}
		if err == nil {
			names[key] = name
		} else {
			problems = append(problems, fault.Wrap(fmt.Errorf("%s.%s: %w", authoritiesPath, name, err),
				fault.ValuesInvalid, "Give a certificate authority that is valid, and its private key."))
		}
	}
	return fault.Join(problems...)
}

// CheckNewAuthorities refuses authorities with which a new cluster should not begin: they expire before the
// certificates that they would sign.
func (e *Environment) CheckNewAuthorities(now time.Time) error {
	all := e.spec.Cluster.Authorities
	for _, name := range sortedKeys(all) {
		if all[name].Certificate == "" {
			continue
		}
		certificate, err := all[name].certificate()
		if err != nil { // Load has refused it
			return fmt.Errorf("%s.%s: %w", authoritiesPath, name, err)
		}
		if now.Add(leastValidity).After(certificate.NotAfter) {
			return fault.New(fault.ValuesInvalid, fmt.Sprintf("%s.%s: the certificate expires on %s, before the "+
				"certificates that it would sign", authoritiesPath, name, certificate.NotAfter.Format(time.DateOnly)),
				"Give a certificate authority that is valid for more than a year.")
		}
	}
	return nil
}

// check returns what identifies the authority's key.
func (a Authority) check(now time.Time) (key string, err error) {
	signer, err := a.signer()
	if err != nil {
		return "", err
	}
	own, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return "", fmt.Errorf("read the public key of the private key: %w", err)
	}
	if a.Certificate == "" {
		if block, _ := pem.Decode([]byte(a.PublicKey)); block == nil || string(block.Bytes) != string(own) {
			return "", errNotItsKey
		}
		return string(own), nil
	}
	certificate, err := a.certificate()
	if err != nil {
		return "", err
	}
	if public, err := x509.MarshalPKIXPublicKey(certificate.PublicKey); err != nil || string(public) != string(own) {
		return "", errNotItsKey
	}
	return string(own), isAuthority(certificate, signer, now)
}

var errNotItsKey = errors.New("the private key does not belong to it")

// certificate reads the certificate. The schema allows only one.
func (a Authority) certificate() (*x509.Certificate, error) {
	block, _ := pem.Decode([]byte(a.Certificate))
	if block == nil {
		return nil, errors.New("the certificate is not PEM")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return certificate, nil
}

// signer returns the private key, if kubeadm can use it.
func (a Authority) signer() (crypto.Signer, error) {
	key, err := keyutil.ParsePrivateKeyPEM([]byte(a.PrivateKey))
	if err != nil {
		return nil, errors.New("the private key cannot be read") // the cause may quote it
	}
	switch typed := key.(type) {
	case *rsa.PrivateKey:
		return typed, nil
	case *ecdsa.PrivateKey:
		return typed, nil
	}
	return nil, errors.New("the private key is neither RSA nor ECDSA")
}

// isAuthority signs certificates of a server and of a client, and verifies them.
func isAuthority(authority *x509.Certificate, signer crypto.Signer, now time.Time) error {
	switch {
	case !authority.BasicConstraintsValid || !authority.IsCA ||
		authority.KeyUsage != 0 && authority.KeyUsage&x509.KeyUsageCertSign == 0:
		return errors.New("the certificate is not that of an authority: it must not sign others")
	case now.Before(authority.NotBefore):
		return fmt.Errorf("the certificate is valid from %s on", authority.NotBefore.Format(time.DateOnly))
	case now.After(authority.NotAfter):
		return fmt.Errorf("the certificate expired on %s", authority.NotAfter.Format(time.DateOnly))
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key to try it with: %w", err)
	}
	const name = "kubernetes.default.svc.cluster.local"
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name},
			NotBefore: now.Add(-time.Minute), NotAfter: now.Add(time.Minute), ExtKeyUsage: []x509.ExtKeyUsage{usage}}
		signed, err := x509.CreateCertificate(rand.Reader, template, authority, key.Public(), signer)
		if err != nil {
			return fmt.Errorf("sign a certificate with it: %w", err)
		}
		leaf, err := x509.ParseCertificate(signed)
		if err == nil {
			_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: name,
				KeyUsages: []x509.ExtKeyUsage{usage}})
		}
		if err != nil {
			return fmt.Errorf("verify a certificate that it signs: %w", err)
		}
	}
	return nil
}
