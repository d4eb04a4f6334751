package clusters

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

// An engine on another machine publishes nothing on a loopback address that is reachable from here.
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
			u := &World{Subject: Subject{EngineAddress: tc.given}, engine: docker.Info{Endpoint: tc.endpoint}}
			if u.ReachedAt() != tc.address || u.APIServerAddress() != tc.listen {
				t.Errorf("address %q, listens on %q, want %q, %q", u.ReachedAt(), u.APIServerAddress(), tc.address,
					tc.listen)
			}
		})
	}
}
