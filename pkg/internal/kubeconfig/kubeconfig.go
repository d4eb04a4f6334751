// Package kubeconfig makes kubeconfigs of clusters that need not exist.
package kubeconfig

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Of is the kubeconfig of an administrator of the cluster with this authority, as Cluster API writes one. The same
// authority gives the same bytes. With an empty authority it names none. Changes are made to its cluster and its user.
func Of(t testing.TB, authority, server string, changes ...func(*api.Cluster, *api.AuthInfo)) []byte {
	t.Helper()
	cluster, user := &api.Cluster{Server: server}, &api.AuthInfo{}
	if authority != "" {
		cluster.CertificateAuthorityData = Authority(t, authority)
	}
	user.ClientCertificateData, user.ClientKeyData = Administrator(t, authority,
		time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, change := range changes {
		change(cluster, user)
	}
	config := api.NewConfig()
	config.Clusters["c"], config.AuthInfos["u"] = cluster, user
	config.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Authority is the certificate of an authority, in PEM.
func Authority(t testing.TB, name string) []byte {
	t.Helper()
	certificate, _ := authority(t, name)
	return encode("CERTIFICATE", certificate.Raw)
}

// Administrator is a client certificate of an authority that ends at a time, and its key, in PEM.
func Administrator(t testing.TB, by string, end time.Time) (certificate, key []byte) {
	t.Helper()
	parent, signer := authority(t, by)
	own := keyOf("administrator of " + by)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(2),
		Subject:   pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		NotBefore: begin, NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, parent, own.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs8)
}

var begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func authority(t testing.TB, name string) (*x509.Certificate, ed25519.PrivateKey) {
	t.Helper()
	key := keyOf(name)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: begin,
		NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

// keyOf is the key of a name.
func keyOf(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Serving is the certificate of a server that an authority vouches for, at names and addresses.
func Serving(t testing.TB, by string, hosts ...string) tls.Certificate {
	t.Helper()
	parent, signer := authority(t, by)
	own := keyOf("server of " + by)
	template := &x509.Certificate{SerialNumber: big.NewInt(3), NotBefore: begin,
		NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, own.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: own}
}
