package openstack_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

func TestConnect(t *testing.T) {
	s := standin.New(t, httptest.NewServer)
	t.Setenv("OS_REGION_NAME", "of the shell, which no longer counts")
	t.Setenv("OS_INTERFACE", "internal")
	c, err := openstack.Connect(t.Context(), s.Credentials(t))
	if err != nil {
		t.Fatal(err)
	}
	if c.ProjectID != "p1" || c.ProjectName != "telco" || len(c.Roles) != 1 || c.Roles[0] != "member" {
		t.Errorf("project %q %q, roles %v", c.ProjectID, c.ProjectName, c.Roles)
	}
	if c.Compute == nil || c.BlockStorage == nil || c.LoadBalancer == nil || c.Network.Endpoint != s.URL+"/network/" {
		t.Errorf("services: %+v", c)
	}
}

func TestConnectWithoutServicesThatNeedNotBe(t *testing.T) {
	s := standin.New(t, httptest.NewServer)
	s.Answers["token"] = standin.OK(standin.Object{"catalog": s.Catalog("identity", "compute", "network", "image")})
	c, err := openstack.Connect(t.Context(), s.Credentials(t))
	if err != nil || c.BlockStorage != nil || c.LoadBalancer != nil {
		t.Errorf("%v, %+v", err, c)
	}
}

// A token that expires half-way is renewed, once, and the request continues.
func TestTokenIsRenewed(t *testing.T) {
	s := standin.New(t, httptest.NewServer)
	c, err := openstack.Connect(t.Context(), s.Credentials(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Lock()
	s.Token = "another"
	s.Unlock()
	if _, err := keypairs.Get(t.Context(), c.Compute, "ada", nil).Extract(); err != nil || s.Logins != 2 {
		t.Errorf("%v after %d logins", err, s.Logins)
	}
	s.Lock()
	s.Token, s.Answers["login"] = "another", standin.Reply{Status: 401, Body: "you sent: "}
	s.Unlock()
	_, err = keypairs.Get(t.Context(), c.Compute, "ada", nil).Extract()
	err = openstack.Explain("asking for a key pair", err)
	if fault.CodeOf(err) != fault.CloudRefused ||
		!strings.Contains(err.Error(), "the token has expired, and the new login is refused with 401") {
		t.Errorf("error %v with code %s", err, fault.CodeOf(err))
	}
	if strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a secret is in the error: %v", err)
	}
}

func TestConnectFails(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	login := func(status int, body any) func(*standin.Cloud) {
		return func(s *standin.Cloud) { s.Answers["login"] = standin.Reply{Status: status, Body: body} }
	}
	cases := map[string]struct {
		start  func(http.Handler) *httptest.Server
		change func(*standin.Cloud)
		rc     []string
		code   fault.Code
		says   string
		hint   string
		retry  bool
	}{
		"refused": {change: login(401, "you sent: "), code: fault.CloudRefused,
			says: "the credentials are refused (401)", hint: "application credential"},
		"a service that fails": {change: login(503, "you sent: "), code: fault.CloudUnreachable,
			says: "the identity service answers 503", retry: true},
		"another service": {change: login(404, "you sent: "), code: fault.CloudUnreachable,
			says: "the address has no identity service: the answer is 404", hint: "auth_url"},
		"a page in place of an API": {change: login(201, "you sent: "), code: fault.CloudUnreachable,
			says: "not have an identity service", hint: "proxy"},
		"no project": {change: func(s *standin.Cloud) {
			s.Answers["token"] = standin.OK(
				standin.Object{"project": nil})
		}, code: fault.CloudRefused, says: "without a project"},
		"another region": {rc: []string{"OS_REGION_NAME", "Two"}, code: fault.CloudLacks,
			says: "no public endpoint of: identity, compute, network, image, in region Two", hint: "RegionOne"},
		"no compute": {change: func(s *standin.Cloud) {
			s.Answers["token"] = standin.OK(standin.Object{"catalog": s.Catalog("identity", "network", "image")})
		}, code: fault.CloudLacks, says: "endpoint of: compute, in region RegionOne"},
		"a service that is down": {change: func(s *standin.Cloud) {
			s.Answers["GET /network/"] = standin.Reply{Status: 503, Body: "<html>s3cret</html>"}
		}, code: fault.CloudUnreachable, says: "asking service network of cloud openstack for its versions: 503",
			retry: true},
		"an endpoint without an answer": {rc: []string{"OS_INTERFACE", "internal"}, code: fault.CloudUnreachable,
			says: "connection refused", hint: "whether this machine reaches", retry: true},
		"no answer": {rc: []string{"OS_AUTH_URL", "http://" + closed.Addr().String() + "/v3"},
			code: fault.CloudUnreachable, says: "connection refused", hint: "https_proxy", retry: true},
		"no such host": {rc: []string{"OS_AUTH_URL", "http://keystone.invalid:5000/v3"},
			code: fault.CloudUnreachable, says: "cannot resolve host keystone.invalid", retry: true},
		"a certificate of its own": {start: httptest.NewTLSServer, code: fault.CloudUnreachable,
			says: "its certificate is not trusted", hint: "OS_CACERT"},
		"https in place of http": {rc: []string{"OS_AUTH_URL", "https"}, code: fault.CloudUnreachable,
			says: "does not speak TLS", retry: true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			start := httptest.NewServer
			if test.start != nil {
				start = test.start
			}
			s := standin.New(t, start)
			if test.change != nil {
				test.change(s)
			}
			if len(test.rc) > 1 && test.rc[1] == "https" {
				test.rc = []string{"OS_AUTH_URL", strings.Replace(s.URL, "http:", "https:", 1) + "/identity/v3"}
			}
			_, err := openstack.Connect(t.Context(), s.Credentials(t, test.rc...))
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) ||
				fault.CanRetry(err) != test.retry {
				t.Fatalf("error %v with code %s, retry %v; want %q", err, fault.CodeOf(err), fault.CanRetry(err),
					test.says)
			}
			if !strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("hint %q, want %q", fault.HintOf(err), test.hint)
			}
			if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "token-") {
				t.Errorf("a secret is in the error: %v", err)
			}
		})
	}
}

func TestConnectTrustsTheCloudsCA(t *testing.T) {
	s := standin.New(t, httptest.NewTLSServer)
	cloud := s.Credentials(t)
	cloud.CACert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if _, err := openstack.Connect(t.Context(), cloud); err != nil {
		t.Errorf("with the CA: %v", err)
	}
	if _, err := openstack.Connect(t.Context(), s.Credentials(t, "OS_INSECURE", "true")); err != nil {
		t.Errorf("unverified: %v", err)
	}
}

// What files define, the shell does not change: neither whom the client trusts nor which certificate it shows.
func TestConnectIgnoresTheShell(t *testing.T) {
	var shown atomic.Int32 // client certificates
	s := standin.New(t, func(handler http.Handler) *httptest.Server {
		server := httptest.NewUnstartedServer(handler)
		server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert,
			VerifyConnection: func(state tls.ConnectionState) error {
				shown.Add(int32(len(state.PeerCertificates)))
				return nil
			}}
		server.StartTLS()
		return server
	})
	folder := t.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	private, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	authority := write("ca.pem", "CERTIFICATE", s.Certificate().Raw)
	trusting, untrusting := s.Credentials(t), s.Credentials(t)
	trusting.CACert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})

	t.Setenv("OS_CACERT", authority)
	if _, err := openstack.Connect(t.Context(), untrusting); fault.CodeOf(err) != fault.CloudUnreachable ||
		!strings.Contains(err.Error(), "its certificate is not trusted") {
		t.Errorf("a CA of the shell: %v", err)
	}
	t.Setenv("OS_CACERT", filepath.Join(folder, "absent.pem"))
	if _, err := openstack.Connect(t.Context(), trusting); err != nil {
		t.Errorf("an absent CA of the shell: %v", err)
	}
	t.Setenv("OS_CACERT", "")
	t.Setenv("OS_CERT", authority)
	if _, err := openstack.Connect(t.Context(), trusting); err != nil {
		t.Errorf("a client certificate of the shell, without its key: %v", err)
	}
	t.Setenv("OS_KEY", write("key.pem", "PRIVATE KEY", private))
	if _, err := openstack.Connect(t.Context(), trusting); err != nil || shown.Load() > 0 {
		t.Errorf("a client certificate of the shell: %v; the cloud saw %d", err, shown.Load())
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections and never says a word
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s := standin.New(t, httptest.NewServer)
	for what, cloud := range map[string]openstack.Cloud{
		"login":   s.Credentials(t, "OS_AUTH_URL", "http://"+silent.Addr().String()+"/v3"),
		"service": s.Credentials(t),
	} {
		s.Answers["token"] = standin.OK(
			standin.Object{"catalog": []standin.Object{{"type": "identity",
				"endpoints": []standin.Object{{"interface": "public", "region_id": "RegionOne",
					"url": s.URL + "/identity/v3"}}},
				{"type": "network", "endpoints": []standin.Object{{"interface": "public", "region_id": "RegionOne",
					"url": "http://" + silent.Addr().String()}}}}})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := openstack.Connect(ctx, cloud)
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%s: it took %s", what, took)
		}
		if fault.CodeOf(err) != fault.CloudUnreachable || !strings.Contains(err.Error(), "no answer in time") ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v", what, err)
		}
		cancel()
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err = openstack.Connect(ctx, cloud); !errors.Is(err, context.Canceled) ||
			fault.CodeOf(err) != fault.Unknown {
			t.Errorf("%s: error %v with code %s after an interrupt", what, err, fault.CodeOf(err))
		}
	}
}
