//go:build e2e

package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	openstacklab "github.com/cluster-init/cluster-init/e2e/lab/openstack"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

// TestMatrixOpenStackTLS builds a management cluster in a cloud that is reached with TLS alone, whose certificates are
// signed by an authority that must be configured, and logs in with a password.
func TestMatrixOpenStackTLS(t *testing.T) {
	given, user := openStackProject(t, openStackName)
	cloud := newEncryptedCloud(t)
	withAuthority := cloud.entry(t, given, true)
	l := openStackLabWith(t, openStackName, resource.ServerImage, withAuthority)
	project := project{inventory.Project{Client: user}, passwordIn(t, given)}
	before := project.inventory(t)

	t.Run("without the authority it is refused before anything is made", func(t *testing.T) {
		l, _, from := l.fromRepository(t)
		l.environment = append(l.environment, "OS_CLIENT_CONFIG_FILE="+cloudsFile(t, cloud.entry(t, given, false)))
		e := l.signalAt(t, os.Interrupt, never, append([]string{"up", l.name, "--bundle", l.bundle}, from...)...)
		if e.exitCode != 26 || !strings.HasPrefix(e.failure.Message, "preflight: ") ||
			!strings.Contains(e.failure.Message, "its certificate is not trusted") ||
			!strings.Contains(e.failure.Hint, "cacert") {
			t.Errorf("exit code %d, want 26: %+v", e.exitCode, e.failure)
		}
		l.nothingLeft(t)
		if after := project.inventory(t); !maps.Equal(after, before) {
			t.Errorf("the project has %v, had %v", after, before)
		}
	})
	management, _ := l.upOnOpenStack(t, project, stoppedBesideServers(project))
	t.Run("the clusters' own controllers have the authority", func(t *testing.T) {
		for _, key := range []client.ObjectKey{{Namespace: "management", Name: l.name + "-cloud-config"},
			{Namespace: "kube-system", Name: "openstack-cloud-controller-manager"}} {
			management.trusts(t, key, cloud)
		}
	})
	t.Run("all of them reached it with TLS", func(t *testing.T) { cloud.wasAsked(t) })
	t.Run("cleanup shows and deletes", func(t *testing.T) { l.cleanupOpenStack(t, project, before) })
}

// trusts fails the test unless a Secret has the cloud's address and its authority.
func (c cluster) trusts(t *testing.T, key client.ObjectKey, cloud *encryptedCloud) {
	t.Helper()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), key, secret); err != nil {
		t.Error(err)
		return
	}
	if !bytes.Equal(bytes.TrimSpace(secret.Data["cacert"]), bytes.TrimSpace(cloud.authority)) {
		t.Errorf("Secret %s has another authority: %q", key, secret.Data["cacert"])
	}
	if identity := cloud.secure.Replace(identityService); !bytes.Contains(secret.Data["clouds.yaml"],
		[]byte(identity)) {
		t.Errorf("Secret %s does not name the identity service %s", key, identity)
	}
}

// identityService is the plain address of the lab's identity service.
const identityService = "http://" + openstacklab.Address + ":5000"

// cloudServices are the lab's services by their ports.
var cloudServices = map[string]string{"5000": "identity", "8774": "compute", "8776": "block storage",
	"8778": "placement", "9292": "image", "9696": "network", "9876": "load balancer"}

// encryptedCloud is the lab's OpenStack behind TLS: each of its services has another port at the same address, and each
// answer names those.
type encryptedCloud struct {
	authority []byte            // who signed the certificate, in PEM
	secure    *strings.Replacer // of plain addresses

	mu    sync.Mutex
	asked map[string]map[string]bool // the addresses of clients by services
}

func newEncryptedCloud(t *testing.T) *encryptedCloud {
	t.Helper()
	authority, certificate := signedFor(t, net.ParseIP(openstacklab.Address))
	c := &encryptedCloud{authority: authority, asked: map[string]map[string]bool{}}
	listeners := map[string]net.Listener{}
	var addresses []string
	for port := range cloudServices {
		listener, err := net.Listen("tcp", net.JoinHostPort(openstacklab.Address, "0"))
		if err != nil {
			t.Fatalf("listening next to the lab's OpenStack: %v", err)
		}
		listeners[port] = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}})
		addresses = append(addresses, "http://"+net.JoinHostPort(openstacklab.Address, port),
			"https://"+listener.Addr().String())
	}
	c.secure = strings.NewReplacer(addresses...)
	for port, listener := range listeners {
		serveOn(t, listener, c.before(port))
	}
	return c
}

// before stands before the service at a port.
func (c *encryptedCloud) before(port string) http.Handler {
	plain := &url.URL{Scheme: "http", Host: net.JoinHostPort(openstacklab.Address, port)}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(plain)
			r.Out.Header.Del("Accept-Encoding") // so that addresses in the answer can be read
		},
		Transport:      &http.Transport{DisableKeepAlives: true}, // the services do not keep connections
		ModifyResponse: c.rename,
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		service := cloudServices[port]
		if c.asked[service] == nil {
			c.asked[service] = map[string]bool{}
		}
		c.asked[service][hostOf(r.RemoteAddr)] = true
		c.mu.Unlock()
		proxy.ServeHTTP(w, r)
	})
}

// rename replaces plain addresses in an answer: in the catalog above all, but services name themselves too.
func (c *encryptedCloud) rename(r *http.Response) error {
	if location := r.Header.Get("Location"); location != "" {
		r.Header.Set("Location", c.secure.Replace(location))
	}
	if r.Request.Method == http.MethodHead || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return err
	}
	text := c.secure.Replace(string(body))
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
	r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}

// wasAsked fails the test unless the services that a cluster needs were asked, also by the cluster's own servers.
func (c *encryptedCloud) wasAsked(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	servers := netip.MustParsePrefix("10.6.0.0/24") // the chart's cluster.openstack.node_cidr
	for _, service := range []string{"identity", "compute", "network", "image"} {
		clients := slices.Sorted(maps.Keys(c.asked[service]))
		t.Logf("%s was asked with TLS by %v", service, clients)
		if len(clients) == 0 {
			t.Errorf("the service %s was not asked with TLS", service)
		}
		// The image service is asked when a server is made; the others by whoever manages the cluster too, which is
		// itself.
		itself := slices.ContainsFunc(clients, func(address string) bool {
			parsed, err := netip.ParseAddr(address)
			return err == nil && servers.Contains(parsed.Unmap())
		})
		if !itself && service != "image" {
			t.Errorf("the service %s was not asked with TLS by the cluster's servers, but by %v", service, clients)
		}
	}
}

// entry is the entry of a clouds.yaml, as a user has it, with the encrypted address, and with the file of the authority
// or without.
func (c *encryptedCloud) entry(t *testing.T, cloud openstack.Cloud, withAuthority bool) openstack.Cloud {
	t.Helper()
	file := readClouds(t, cloud)
	entry := file.Clouds[cloud.Name]
	auth, _ := entry["auth"].(map[string]any)
	address, _ := auth["auth_url"].(string)
	if auth["auth_url"] = c.secure.Replace(address); auth["auth_url"] == address {
		t.Fatalf("the cloud's identity service is at %s, want %s", address, identityService)
	}
	if withAuthority {
		ca := filepath.Join(t.TempDir(), "ca.pem")
		must(t, os.WriteFile(ca, c.authority, 0o600))
		entry["cacert"] = ca
	}
	config, err := yaml.Marshal(file)
	must(t, err)
	return openstack.Cloud{Name: cloud.Name, Config: config}
}

// cloudsYAML is the content of a clouds.yaml.
type cloudsYAML struct {
	Clouds map[string]map[string]any `json:"clouds"`
}

func readClouds(t *testing.T, cloud openstack.Cloud) cloudsYAML {
	t.Helper()
	var file cloudsYAML
	must(t, yaml.Unmarshal(cloud.Config, &file))
	return file
}

// passwordIn returns the password of a cloud's entry.
func passwordIn(t *testing.T, cloud openstack.Cloud) string {
	t.Helper()
	password := resource.PasswordOf(map[string]any(readClouds(t, cloud).Clouds[cloud.Name]))
	if password == "" {
		t.Fatal("the cloud's entry has no password")
	}
	return password
}

// signedFor makes an authority and a certificate of it for an address.
func signedFor(t *testing.T, address net.IP) (authority []byte, certificate tls.Certificate) {
	t.Helper()
	template := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	}
	root := template(1, "a telco's own authority")
	root.IsCA, root.BasicConstraintsValid, root.KeyUsage = true, true, x509.KeyUsageCertSign
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	must(t, err)
	leaf := template(2, "a telco's cloud")
	leaf.IPAddresses, leaf.KeyUsage, leaf.ExtKeyUsage = []net.IP{address}, x509.KeyUsageDigitalSignature,
		[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}),
		tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: leafKey}
}
