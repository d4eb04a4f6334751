//go:build e2e

package e2e

import (
	"bytes"
	"crypto/x509"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// authority has the certificates of a cluster, as Cluster API makes them.
type authority struct{ secret.Certificates }

func newAuthority(t *testing.T) authority {
	t.Helper()
	made := secret.NewCertificatesForInitialControlPlane(nil)
	if err := made.Generate(); err != nil {
		t.Fatal(err)
	}
	return authority{made}
}

// certificate returns that of the cluster's authority.
func (a authority) certificate(t *testing.T) *x509.Certificate {
	t.Helper()
	certificate, err := certs.DecodeCertPEM(a.GetByPurpose(secret.ClusterCA).KeyPair.Cert)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// values are the cluster's own authorities, as an environment has them.
func (a authority) values() map[string]any {
	pair := func(purpose secret.Purpose, public string) map[string]any {
		key := a.GetByPurpose(purpose).KeyPair
		return map[string]any{public: string(key.Cert), "private_key": string(key.Key)}
	}
	return map[string]any{"kubernetes": pair(secret.ClusterCA, "certificate"),
		"etcd": pair(secret.EtcdCA, "certificate"), "front_proxy": pair(secret.FrontProxyCA, "certificate"),
		"service_account": pair(secret.ServiceAccount, "public_key")}
}

// verifies sees that a client that trusts nothing but the authority reaches the cluster of a kubeconfig.
func (a authority) verifies(t *testing.T, kubeconfig []byte) {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.CAData = a.GetByPurpose(secret.ClusterCA).KeyPair.Cert
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ServerVersion(); err != nil {
		t.Errorf("a client that trusts only the own authority: %v", err)
	}
}

// isIn sees the authority, and the keys for Secrets, in the cluster that manages the cluster of a name.
func (a authority) isIn(t *testing.T, c cluster, name string) {
	t.Helper()
	for _, purpose := range []secret.Purpose{secret.ClusterCA, secret.EtcdCA, secret.FrontProxyCA,
		secret.ServiceAccount} {
		s := &corev1.Secret{}
		s.Namespace, s.Name = "management", secret.Name(name, purpose)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
			t.Fatal(err)
		}
		if key := a.GetByPurpose(purpose).KeyPair; !bytes.Equal(s.Data["tls.crt"], key.Cert) ||
			!bytes.Equal(s.Data["tls.key"], key.Key) {
			t.Errorf("Secret %s has another key pair", s.Name)
		}
	}
	var all corev1.SecretList
	if err := c.List(t.Context(), &all, client.InNamespace("management")); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range all.Items {
		if strings.HasPrefix(s.Name, "telco-cloud-init-machine-encryption-") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d Secrets have the keys that Secrets of %s are encrypted with", found, name)
	}
	kubeconfig := &corev1.Secret{}
	kubeconfig.Namespace, kubeconfig.Name = "management", secret.Name(name, secret.Kubeconfig)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(kubeconfig), kubeconfig); err != nil {
		t.Fatal(err)
	}
	a.verifies(t, kubeconfig.Data[secret.KubeconfigDataName])
}

// ownKeys are values with own authorities and keys for Secrets.
func ownKeys(a authority) map[string]any {
	values := machineSettings()["cluster"].(map[string]any)["kubernetes"].(map[string]any)
	return map[string]any{"cluster": map[string]any{"certificate_authorities": a.values(),
		"kubernetes": map[string]any{"encryption_at_rest": values["encryption_at_rest"]}}}
}

// verifiesFile is verifies for the kubeconfig in a file.
func (a authority) verifiesFile(t *testing.T, file string) {
	t.Helper()
	kubeconfig, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a.verifies(t, kubeconfig)
}
