package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// The certificate authorities of a cluster by their names below RKE2's tls folder, where CAPRKE2 writes them for the
// first server. etcdPeerCA changes nothing here: kubeadm knows one authority for all of etcd.
const (
	serverCA   = "server-ca"
	clientCA   = "client-ca"
	etcdCA     = "etcd/server-ca"
	etcdPeerCA = "etcd/peer-ca"
)

// authorityNames returns all of them.
func authorityNames() []string { return []string{serverCA, clientCA, etcdCA, etcdPeerCA} }

// authorityLife and certificateLife are how long new ones are valid.
const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.PrivateKey
	pem         []byte // of the certificate
}

// ensureAuthorities makes the certificate authorities that are not there, as RKE2 does.
func ensureAuthorities(p paths) error {
	for _, name := range authorityNames() {
		certificate, key := exists(filepath.Join(p.tls(), name+".crt")), exists(filepath.Join(p.tls(), name+".key"))
		if certificate != key {
			return fmt.Errorf("the certificate authority %s has only one of certificate and key in %s", name, p.tls())
		}
		if certificate {
			continue
		}
		if err := makeAuthority(p, name); err != nil {
			return fmt.Errorf("make the certificate authority %s: %w", name, err)
		}
	}
	return nil
}

// makeAuthority writes a new certificate authority.
func makeAuthority(p paths, name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: fmt.Sprintf("rke2-%s@%d", filepath.Base(name), now.Unix())},
		NotBefore:    now.Add(-time.Minute), NotAfter: now.Add(authorityLife), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		writeFile(filepath.Join(p.tls(), name+".key"), keyPEM),
		writeFileMode(filepath.Join(p.tls(), name+".crt"), encodeCertificate(certificate), 0o644))
}

// readAuthority reads a certificate authority of RKE2's tls folder.
func readAuthority(p paths, name string) (authority, error) {
	content, err := os.ReadFile(filepath.Join(p.tls(), name+".crt"))
	if err != nil {
		return authority{}, fmt.Errorf("read the certificate authority %s: %w", name, err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(p.tls(), name+".crt"), filepath.Join(p.tls(), name+".key"))
	if err != nil {
		return authority{}, fmt.Errorf("read the certificate authority %s: %w", name, err)
	}
	if !pair.Leaf.IsCA {
		return authority{}, fmt.Errorf("%s in %s is not the certificate of an authority", name, p.tls())
	}
	return authority{certificate: pair.Leaf, key: pair.PrivateKey, pem: content}, nil
}

// issue signs a certificate for a new key; the template says for whom and what for.
func (a authority) issue(template x509.Certificate) (certificatePEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template.SerialNumber = big.NewInt(now.UnixNano())
	template.NotBefore, template.NotAfter = now.Add(-time.Minute), now.Add(certificateLife)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	signed, err := x509.CreateCertificate(rand.Reader, &template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign a certificate for %s: %w", template.Subject.CommonName, err)
	}
	keyPEM, err = encodeKey(key)
	return encodeCertificate(signed), keyPEM, err
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// encodeKey uses the form that kubeadm and CAPRKE2 read too.
func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
