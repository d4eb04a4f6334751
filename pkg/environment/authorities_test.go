package environment_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// authority is a key pair in PEM, in the form of values.
type authority map[string]any

// newAuthority makes one that change has changed.
func newAuthority(t *testing.T, key crypto.Signer, change func(*x509.Certificate)) authority {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "own"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().AddDate(10, 0, 0)}
	if change != nil {
		change(template)
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return authority{"certificate": inPEM("CERTIFICATE", certificate), "private_key": privateInPEM(t, key)}
}

func inPEM(kind string, content []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

func privateInPEM(t *testing.T, key crypto.Signer) string {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return inPEM("PRIVATE KEY", private)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// serviceAccounts is a key pair without a certificate.
func serviceAccounts(t *testing.T, key, other crypto.Signer) authority {
	t.Helper()
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return authority{"public_key": inPEM("PUBLIC KEY", public), "private_key": privateInPEM(t, other)}
}

// loadAuthorities loads an environment with these authorities.
func loadAuthorities(t *testing.T, name string, authorities map[string]any) (*environment.Environment, error) {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"cluster": map[string]any{"certificate_authorities": authorities}})
	if err != nil {
		t.Fatal(err)
	}
	at := folder(t, map[string]string{"authorities.yaml": string(text)})
	return environment.Load(t.Context(), environment.Options{Name: name, Content: clusterinit.Content(),
		Variables: variables(allVariables()), ValuesFiles: []string{filepath.Join(at, "authorities.yaml")}})
}

// The Secrets are in the release that has the cluster's definition: they are there before it, and move with it.
func TestAuthorities(t *testing.T) {
	key := newKey(t)
	legacy, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ca := newAuthority(t, legacy, nil)
	ca["private_key"] = inPEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(legacy))
	kubeadm := map[string]any{"kubernetes": ca, "etcd": newAuthority(t, newKey(t), nil),
		"service_account": serviceAccounts(t, key, key)}
	rke2 := map[string]any{"kubernetes": ca, "etcd": newAuthority(t, newKey(t), nil),
		"client": newAuthority(t, newKey(t), nil), "etcd_peer": newAuthority(t, newKey(t), nil)}
	for name, tc := range map[string]struct {
		authorities map[string]any
		want        map[string]string // suffixes
	}{
		"kubeadm-capd": {kubeadm, map[string]string{"ca": "kubernetes", "etcd": "etcd", "sa": "service_account"}},
		"rke2-capd": {rke2, map[string]string{"ca": "kubernetes", "cca": "client", "etcd": "etcd",
			"peer-etcd": "etcd_peer"}},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := loadAuthorities(t, name, tc.authorities)
			if err != nil {
				t.Fatal(err)
			}
			for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
				rendered, err := env.Render(phase, nil)
				if err != nil {
					t.Fatal(err)
				}
				for suffix, from := range tc.want {
					secret := find(t, rendered, "Secret", name+"-"+suffix)
					text, _, _ := unstructured.NestedStringMap(secret.Object, "stringData")
					pair := tc.authorities[from].(authority)
					public, _ := pair["certificate"].(string)
					if key, is := pair["public_key"].(string); is {
						public = key
					}
					labels, kept := secret.GetLabels(), secret.GetAnnotations()["helm.sh/resource-policy"]
					if !maps.Equal(text, map[string]string{"tls.crt": public, "tls.key": pair["private_key"].(string)}) ||
						labels["cluster.x-k8s.io/cluster-name"] != name || kept != "keep" {
						t.Errorf("%s: %s has the labels %v, is %sed, and holds %v", phase, suffix, labels, kept, text)
					}
				}
			}
		})
	}
}

// An authority with which no cluster would work is refused before anything is created.
func TestAuthoritiesThatAreRefused(t *testing.T) {
	key := newKey(t)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := newAuthority(t, key, nil)
	other := authority{"certificate": ca["certificate"], "private_key": privateInPEM(t, newKey(t))}
	both := authority{"certificate": ca["certificate"].(string) + ca["certificate"].(string),
		"private_key": ca["private_key"]}
	signs := func(change func(*x509.Certificate)) map[string]any {
		return map[string]any{"kubernetes": newAuthority(t, key, change)}
	}
	for name, tc := range map[string]struct {
		environment string
		authorities map[string]any
		message     string
	}{
		"another key": {"kubeadm-capd", map[string]any{"kubernetes": other}, "the private key does not belong to it"},
		"no authority": {"kubeadm-capd", signs(func(c *x509.Certificate) { c.IsCA = false }),
			"is not that of an authority"},
		"no signatures": {"kubeadm-capd", signs(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature }),
			"is not that of an authority"},
		"expired": {"kubeadm-capd", signs(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }),
			"the certificate expired on"},
		"not valid yet": {"kubeadm-capd", signs(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(48 * time.Hour) }),
			"the certificate is valid from"},
		"without a key": {"kubeadm-capd", map[string]any{"etcd": authority{"certificate": ca["certificate"]}},
			"etcd has only one of certificate and private_key"},
		"of another provider": {"kubeadm-capd", map[string]any{"client": ca},
			"client is given, which kubeadm does not have"},
		"not all of RKE2": {"rke2-capd", map[string]any{"kubernetes": ca}, "etcd_peer is not given"},
		"one twice": {"kubeadm-capd", map[string]any{"kubernetes": ca, "front_proxy": ca},
			"each needs one of its own"},
		"one for servers only": {"kubeadm-capd", signs(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}), "verify a certificate that it signs"},
		"one for other names": {"kubeadm-capd", signs(func(c *x509.Certificate) {
			c.PermittedDNSDomainsCritical, c.PermittedDNSDomains = true, []string{"example.org"}
		}), "verify a certificate that it signs"},
		"two certificates of one key": {"kubeadm-capd", map[string]any{"kubernetes": ca,
			"front_proxy": newAuthority(t, key, nil)}, "each needs one of its own"},
		"two certificates": {"kubeadm-capd", map[string]any{"kubernetes": both}, "does not match pattern"},
		"Ed25519": {"kubeadm-capd", map[string]any{"kubernetes": newAuthority(t, edwards, nil)},
			"neither RSA nor ECDSA"},
		"no certificate": {"kubeadm-capd", map[string]any{"kubernetes": authority{"private_key": ca["private_key"],
			"certificate": inPEM("CERTIFICATE", []byte("x"))}}, "read the certificate"},
		"no key": {"kubeadm-capd", map[string]any{"kubernetes": authority{"certificate": ca["certificate"],
			"private_key": inPEM("PRIVATE KEY", []byte("x"))}}, "the private key cannot be read"},
		"another key of service accounts": {"kubeadm-capd", map[string]any{"service_account": serviceAccounts(t, key,
			newKey(t))}, "service_account: the private key does not belong to it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadAuthorities(t, tc.environment, tc.authorities)
			if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v, want %q", err, tc.message)
			}
			if err != nil && strings.Contains(err.Error(), "PRIVATE") && !strings.Contains(tc.message, "pattern") {
				t.Errorf("the error holds a key: %v", err)
			}
		})
	}
}

// A new cluster does not begin with an authority that expires before what it would sign. One that is in use may.
func TestNewAuthorities(t *testing.T) {
	for years, refused := range map[int]bool{2: false, 1: true} {
		env, err := loadAuthorities(t, "kubeadm-capd", map[string]any{"kubernetes": newAuthority(t, newKey(t),
			func(c *x509.Certificate) { c.NotAfter = time.Now().AddDate(years, 0, -1) })})
		if err != nil {
			t.Fatal(err)
		}
		err = env.CheckNewAuthorities(time.Now())
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "before the certificates that it would") {
			t.Errorf("%d years: %v", years, err)
		}
	}
}

// Helm refuses to replace the authority of a cluster.
func TestAnAuthorityIsNotReplaced(t *testing.T) {
	own, other := newAuthority(t, newKey(t), nil), newAuthority(t, newKey(t), nil)
	env, err := loadAuthorities(t, "kubeadm-capd", map[string]any{"kubernetes": own})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		has     any // the certificate in the cluster
		refused bool
	}{
		"there is none":         {nil, false},
		"the same":              {own["certificate"], false},
		"another one":           {other["certificate"], true},
		"a Secret without data": {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []runtime.Object
			if text, is := tc.has.(string); is {
				objects = append(objects, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1",
					"kind": "Secret", "metadata": map[string]any{"name": "kubeadm-capd-ca", "namespace": "management"},
					"data": map[string]any{"tls.crt": base64.StdEncoding.EncodeToString([]byte(text))}}})
			}
			_, err := renderIn(t, env, inCluster{"secrets", fake.NewSimpleDynamicClient(runtime.NewScheme(), objects...)})
			if (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(),
				"certificate_authorities.kubernetes is not the one that the cluster has in Secret kubeadm-capd-ca") {
				t.Errorf("%v", err)
			}
		})
	}
}
