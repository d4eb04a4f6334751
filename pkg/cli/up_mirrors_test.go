package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/oci"
)

func TestMirrorsAreJoinedByHost(t *testing.T) {
	users := []oci.Mirror{{Host: "ghcr.io", URL: "https://mine"}}
	bundles := []oci.Mirror{{Host: "_default", URL: "http://b/_default", Only: true},
		{Host: "ghcr.io", URL: "http://b/ghcr", Only: true}}
	want := []oci.Mirror{{Host: "ghcr.io", URL: "https://mine", Only: true}, bundles[0]}
	if diff := cmp.Diff(want, joinMirrors(users, bundles)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
