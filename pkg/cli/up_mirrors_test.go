package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/artifact"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

func TestMirrorsAreJoinedByHost(t *testing.T) {
	users := []artifact.Mirror{{Host: "ghcr.io", URL: "https://mine"}}
	bundles := []artifact.Mirror{{Host: "_default", URL: "http://b/_default", Only: true}, {Host: "ghcr.io", URL: "http://b/ghcr", Only: true}}
	joined := joinMirrors(users, bundles)
	want := []artifact.Mirror{{Host: "ghcr.io", URL: "https://mine", Only: true}, bundles[0]}
	if diff := cmp.Diff(want, joined); diff != "" {
		t.Errorf("of the bundle and the user (-want +got):\n%s", diff)
	}
	values := []environment.RegistryMirror{{Host: "quay.io", URL: "https://q", SkipVerify: true}, {Host: "ghcr.io", URL: "https://values"}}
	machines := machineMirrors(values, joined, true)
	wantMachines := []environment.RegistryMirror{
		{Host: "quay.io", URL: "https://q", SkipVerify: true, Only: true},
		{Host: "ghcr.io", URL: "https://values", Only: true},
		{Host: "_default", URL: "http://b/_default", Only: true},
	}
	if diff := cmp.Diff(wantMachines, machines); diff != "" {
		t.Errorf("of the machines (-want +got):\n%s", diff)
	}
}
