//go:build e2e

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	expiryAnnotation = "machine.cluster.x-k8s.io/certificates-expiry"
	soon             = 30 * 24 * time.Hour
)

// renewsCertificates has the certificates of all control-plane machines end in 30 days: each machine is replaced once,
// and none twice. Cluster API renews its kubeconfig, `up` the saved one, and `status` has the earliest date.
func (l lab) renewsCertificates(t *testing.T, management cluster) {
	before := management.controlPlanes(t.Context())
	if len(before) != 3 {
		t.Fatalf("the control-plane machines %v are ready, want three", before)
	}
	ends := time.Now().Add(soon).UTC().Truncate(time.Second)
	// Cluster API reads the certificate of a machine once, and keeps its end as this annotation.
	for _, config := range management.list(t, "bootstrap.cluster.x-k8s.io", "v1beta2", "KubeadmConfig") {
		if !slices.Contains(before, config.GetName()) {
			continue
		}
		changed := config.DeepCopy()
		annotations := maps.Clone(config.GetAnnotations())
		annotations[expiryAnnotation] = ends.Format(time.RFC3339)
		changed.SetAnnotations(annotations)
		must(t, management.Patch(t.Context(), changed, client.MergeFrom(&config)))
	}
	eventually(t, "status has the earliest date", time.Minute, func(context.Context) bool {
		_, out := l.run(t, "status", l.name)
		return strings.Contains(out, "at "+ends.Format(time.RFC3339))
	})
	seen := map[string]bool{}
	eventually(t, "three other control-plane machines", 20*time.Minute, func(ctx context.Context) bool {
		now := management.controlPlanes(ctx)
		for _, name := range now {
			seen[name] = true
		}
		return len(now) == 3 && !slices.ContainsFunc(now, func(name string) bool {
			return slices.Contains(before, name)
		})
	})
	if len(seen) != 6 {
		t.Errorf("the control plane had the machines %v, want three and three others", slices.Collect(maps.Keys(seen)))
	}
	l.renewsKubeconfig(t, management)
	management = l.management(t)
	management.managesItself(t)
	if now := management.controlPlanes(t.Context()); slices.ContainsFunc(now, func(name string) bool {
		return !seen[name]
	}) {
		t.Errorf("the control-plane machines %v were replaced again: %v", slices.Collect(maps.Keys(seen)), now)
	}
}

// renewsKubeconfig gives Cluster API's kubeconfig and the saved one a client certificate that ends in 30 days.
func (l lab) renewsKubeconfig(t *testing.T, management cluster) {
	t.Helper()
	key := client.ObjectKey{Namespace: "management", Name: l.name + "-kubeconfig"}
	var kept, authority corev1.Secret
	must(t, management.Get(t.Context(), key, &kept))
	must(t, management.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: l.name + "-ca"}, &authority))
	old := soonEnding(t, kept.Data["value"], &authority)
	changed := kept.DeepCopy()
	changed.Data["value"] = old
	must(t, management.Patch(t.Context(), changed, client.MergeFrom(&kept)))
	must(t, os.WriteFile(l.kubeconfig(l.name), old, 0o600))
	eventually(t, "Cluster API renews its kubeconfig", 5*time.Minute, func(ctx context.Context) bool {
		var now corev1.Secret
		return management.Get(ctx, key, &now) == nil && endOf(t, now.Data["value"]).After(time.Now().Add(2*soon))
	})
	if code, _ := l.run(t, "up", l.name, "--bundle", l.bundle, "--set", "cluster.control_plane.replicas=3", "--set",
		"cluster.worker.replicas=1", "--set", healSet); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	saved, err := os.ReadFile(l.kubeconfig(l.name))
	must(t, err)
	if end := endOf(t, saved); end.Before(time.Now().Add(2 * soon)) {
		t.Errorf("the saved kubeconfig ends at %s", end)
	}
}

// soonEnding returns the kubeconfig with another client certificate, which ends in 30 days.
func soonEnding(t *testing.T, kubeconfig []byte, authority *corev1.Secret) []byte {
	t.Helper()
	pair, err := tls.X509KeyPair(authority.Data["tls.crt"], authority.Data["tls.key"])
	must(t, err)
	parent, err := x509.ParseCertificate(pair.Certificate[0])
	must(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	made, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}},
		NotBefore:    time.Now().Add(-time.Minute), NotAfter: time.Now().Add(soon),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, parent, key.Public(), pair.PrivateKey)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	config, err := clientcmd.Load(kubeconfig)
	must(t, err)
	for _, user := range config.AuthInfos {
		user.ClientCertificateData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
		user.ClientKeyData = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	}
	out, err := clientcmd.Write(*config)
	must(t, err)
	return out
}

// endOf returns when the client certificate of a kubeconfig ends.
func endOf(t *testing.T, kubeconfig []byte) time.Time {
	t.Helper()
	config, err := clientcmd.Load(kubeconfig)
	must(t, err)
	for _, user := range config.AuthInfos {
		if block, _ := pem.Decode(user.ClientCertificateData); block != nil {
			certificate, err := x509.ParseCertificate(block.Bytes)
			must(t, err)
			return certificate.NotAfter
		}
	}
	t.Fatal("the kubeconfig has no client certificate")
	return time.Time{}
}

// controlPlanes are the names of the control-plane Machines that are Ready and are not being deleted; nil while the API
// server does not answer.
func (c cluster) controlPlanes(ctx context.Context) []string {
	all, err := c.machineObjects(ctx)
	if err != nil {
		return nil
	}
	return readyOf(slices.DeleteFunc(all, func(m unstructured.Unstructured) bool {
		_, is := m.GetLabels()["cluster.x-k8s.io/control-plane"]
		return !is
	}), c.name)
}
