package up

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

func TestWithServerKeepsTheNameOfTheCertificate(t *testing.T) {
	named := strings.Replace(kubeconfig, `6443"}`, `6443", tls-server-name: localhost}`, 1)
	cases := map[string]struct {
		kubeconfig, host, port string
		lines                  []string
	}{
		"a published port":       {kubeconfig, "127.0.0.1", "32768", []string{"server: https://127.0.0.1:32768", "tls-server-name: 172.18.0.3"}},
		"the port as it is":      {kubeconfig, "docker", "", []string{"server: https://docker:6443", "tls-server-name: 172.18.0.3"}},
		"an IPv6 address":        {kubeconfig, "2001:db8::7", "1", []string{"server: https://[2001:db8::7]:1"}},
		"one that has been here": {named, "docker", "1", []string{"server: https://docker:1", "tls-server-name: localhost"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := withServer([]byte(tc.kubeconfig), tc.host, tc.port)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range append(tc.lines, "token: t") {
				if !strings.Contains(string(got), line) {
					t.Errorf("%q is not in\n%s", line, got)
				}
			}
		})
	}
	if _, err := withServer([]byte("no kubeconfig"), "docker", "1"); err == nil {
		t.Error("a kubeconfig that is none is accepted")
	}
}

func TestWhereAPublishedPortIsReached(t *testing.T) {
	cases := map[string]struct{ published, engine, want string }{
		"everywhere":                       {"0.0.0.0:32768", "", "127.0.0.1 32768"},
		"everywhere, IPv6":                 {"[::]:32768", "", "127.0.0.1 32768"},
		"loopback":                         {"127.0.0.1:32768", "", "127.0.0.1 32768"},
		"one address":                      {"192.0.2.7:6443", "", "192.0.2.7 6443"},
		"everywhere on another machine":    {"0.0.0.0:32768", "docker", "docker 32768"},
		"one address on another machine":   {"10.0.0.7:32768", "docker", "docker 32768"},
		"nothing that an engine would say": {"no address", "docker", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			host, port, err := publishedAt(tc.published, tc.engine)
			if tc.want == "" && err == nil || tc.want != "" && (err != nil || host+" "+port != tc.want) {
				t.Errorf("%s %s (%v), want %q", host, port, err, tc.want)
			}
		})
	}
}

// An engine on another machine publishes on its own loopback address for nobody.
func TestWhereTheBootstrapClusterListens(t *testing.T) {
	cases := map[string]struct{ endpoint, given, address, listen string }{
		"a socket":              {"", "", "", ""},
		"a service":             {"tcp://docker:2376", "", "docker", "0.0.0.0"},
		"a container beside us": {"tcp://localhost:2375", "", "", ""},
		"an alias of ssh":       {"ssh://build", "192.0.2.7", "192.0.2.7", "0.0.0.0"},
		"a socket of another":   {"unix:///mnt/docker.sock", "172.17.0.1", "172.17.0.1", "0.0.0.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &Run{Options: Options{EngineAddress: tc.given}, found: session{engine: docker.Info{Endpoint: tc.endpoint}}}
			if u.engineAddress() != tc.address || u.apiServerAddress() != tc.listen {
				t.Errorf("address %q, listens on %q, want %q, %q", u.engineAddress(), u.apiServerAddress(), tc.address, tc.listen)
			}
		})
	}
}
