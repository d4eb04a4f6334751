package environment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

func TestKeys(t *testing.T) {
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]environment.Key{}
	for i, k := range keys {
		if _, twice := found[k.Path]; twice {
			t.Errorf("%s is there twice", k.Path)
		}
		found[k.Path] = k
		if k.Description == "" || k.Type == "" {
			t.Errorf("%s is not explained: %+v", k.Path, k)
		}
		if above, _, nested := cutLast(k.Path); nested &&
			!slices.ContainsFunc(keys[:i], func(o environment.Key) bool { return o.Path == above }) {
			t.Errorf("%s comes before what it is in", k.Path)
		}
	}
	for path, want := range map[string]string{
		"cluster.control_plane.replicas": "integer, 1 to 9; default 1; required true; allowed []",
		"cluster.bootstrap_provider": "one of the allowed words; default kubeadm; required true; allowed " +
			"[kubeadm rke2]",
		"cluster.registry_mirrors":        "list of map; default []; required false; allowed []",
		"cluster.registry_mirrors[].host": "string; default <nil>; required true; allowed []",
		"components.NAME.enabled": "one of the allowed words; default <nil>; required false; allowed [true " +
			"false bootstrap-only management-only workload-only]",
		"components.NAME.dependsOn": "list of string; default <nil>; required false; allowed []",
	} {
		k := found[path]
		if got := fmt.Sprintf("%s; default %v; required %v; allowed %v", k.Type, k.Default, k.Required,
			k.Allowed); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", path, got, want)
		}
	}
}

// cutLast cuts off the last part of the path of a key.
func cutLast(path string) (above, last string, nested bool) {
	at := strings.LastIndex(path, ".")
	if at < 0 {
		return path, "", false
	}
	return strings.TrimSuffix(path[:at], "[]"), path[at+1:], true
}

func TestAKeyIsFoundByWhatSomebodyWrites(t *testing.T) {
	cases := []struct {
		key, given, rest string
		below            bool
	}{
		{"cluster.name", "", "cluster.name", true},
		{"cluster.name", "cluster", "name", true},
		{"cluster.name", "cluster.name", "", true},
		{"cluster.name", "cluster.namespace", "", false},
		{"cluster.name", "cluster.name.x", "", false},
		{"components.NAME.enabled", "components.capd.enabled", "", true},
		{"components.NAME.enabled", "components.capd", "enabled", true},
		{"cluster.registry_mirrors[].host", "cluster.registry_mirrors[0].host", "", true},
		{"cluster.registry_mirrors[].host", "cluster.registry_mirrors[].host", "", true},
		{"cluster.registry_mirrors[].host", "cluster.registry_mirrors", "[].host", true},
	}
	for _, tc := range cases {
		if rest, below := (environment.Key{Path: tc.key}).Below(tc.given); rest != tc.rest || below != tc.below {
			t.Errorf("%s below %q: got %q, %t, want %q, %t", tc.key, tc.given, rest, below, tc.rest, tc.below)
		}
	}
}
