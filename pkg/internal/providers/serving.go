//go:build capa

package providers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// certificate is what cert-manager would make for the webhooks: it signs itself.
type certificate struct{ certificate, key []byte }

// newCertificate makes one for the loopback address, for a day.
func newCertificate() (certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhooks"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return certificate{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return certificate{}, err
	}
	return certificate{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}

// aim has the webhooks of an object call the ports of this machine in place of Services; ports are by namespace.
func aim(object *unstructured.Unstructured, ports map[string]int, authority []byte) error {
	switch object.GetKind() {
	case "CustomResourceDefinition":
		clientConfig, found, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig")
		if !found {
			return nil
		}
		if err := aimClient(clientConfig, ports, authority); err != nil {
			return err
		}
		return unstructured.SetNestedMap(object.Object, clientConfig, "spec", "conversion", "webhook", "clientConfig")
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, webhook := range webhooks {
			if err := aimClient(webhook.(map[string]any)["clientConfig"].(map[string]any), ports,
				authority); err != nil {
				return err
			}
		}
		return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
	}
	return nil
}

func aimClient(clientConfig map[string]any, ports map[string]int, authority []byte) error {
	namespace, _, _ := unstructured.NestedString(clientConfig, "service", "namespace")
	path, _, _ := unstructured.NestedString(clientConfig, "service", "path")
	port, known := ports[namespace]
	if !known {
		return fmt.Errorf("no manager runs in namespace %q", namespace)
	}
	delete(clientConfig, "service")
	clientConfig["url"] = fmt.Sprintf("https://127.0.0.1:%d%s", port, path)
	clientConfig["caBundle"] = base64.StdEncoding.EncodeToString(authority)
	return nil
}
