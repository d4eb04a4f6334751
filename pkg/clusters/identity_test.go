package clusters

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
)

// Which files there are, and what the bootstrap cluster holds, say which of them can be trusted.
func TestCandidates(t *testing.T) {
	ours, again, theirs := fluxserver.KubeconfigOf(t, "ours", "https://a"),
		fluxserver.KubeconfigOf(t, "ours", "https://b"), fluxserver.KubeconfigOf(t, "theirs", "https://c")
	cases := map[string]struct {
		bootstrap, wanted, saved []byte
		want                     string // where, with ! for what is proven
		foreign                  string // the one that is refused
	}{
		"nothing":                                       {nil, nil, nil, "", ""},
		"what the bootstrap cluster holds":              {ours, nil, nil, "bootstrap!", ""},
		"and the files of an earlier run":               {ours, again, again, "bootstrap! wanted! saved!", ""},
		"after the pivot":                               {nil, again, ours, "wanted! saved!", ""},
		"a file of --kubeconfig alone proves nothing":   {nil, ours, nil, "wanted", ""},
		"the state folder alone does":                   {nil, nil, ours, "saved!", ""},
		"--kubeconfig names another than the bootstrap": {ours, theirs, nil, "", "wanted"},
		"--kubeconfig names another than the state":     {nil, theirs, ours, "", "wanted"},
		"the state folder is of an earlier cluster":     {ours, nil, theirs, "", "state/kubeconfig"},
		"an empty file is none":                         {nil, []byte{}, nil, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			u := &World{Subject: Subject{KubeconfigPath: filepath.Join(dir, "wanted"),
				StateFolder: filepath.Join(dir, "state")}}
			for path, content := range map[string][]byte{u.KubeconfigPath: tc.wanted,
				filepath.Join(u.StateFolder, "kubeconfig"): tc.saved} {
				if content == nil {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all, err := u.candidates(tc.bootstrap)
			var got []string
			for _, c := range all {
				short := map[string]string{u.KubeconfigPath: "wanted",
					filepath.Join(u.StateFolder, "kubeconfig"): "saved"}[c.named]
				if short == "" {
					short = "bootstrap"
				}
				if c.proven {
					short += "!"
				}
				got = append(got, short)
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("%v, want %s", got, tc.want)
			}
			refused := fault.CodeOf(err) == fault.ClusterForeign && strings.Contains(fmt.Sprint(err), "/"+tc.foreign)
			if (tc.foreign != "") != refused || tc.foreign == "" && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAKubeconfigThatCannotBeReadIsNotAbsent(t *testing.T) {
	dir := t.TempDir()
	u := &World{Subject: Subject{KubeconfigPath: dir, StateFolder: dir}} // a folder in place of the file
	if side := u.SeeManagement(t.Context(), nil); side.State != ManagementSilent || side.Err == nil {
		t.Errorf("%s, %v", side.State, side.Err)
	}
}

func TestWhoseAClusterIs(t *testing.T) {
	for name, tc := range map[string]struct {
		labels map[string]string
		ours   bool
	}{
		"ours": {map[string]string{"cluster-init.io/cluster": "demo"}, true},
		"a user's own definition of it": {map[string]string{"kustomize.toolkit.fluxcd.io/name": "cluster",
			"kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, true},
		"another cluster's label": {map[string]string{"cluster-init.io/cluster": "other"}, false},
		"by Flux of somebody else": {map[string]string{"kustomize.toolkit.fluxcd.io/name": "cluster",
			"kustomize.toolkit.fluxcd.io/namespace": "team-a"}, false},
		"by another component": {map[string]string{"kustomize.toolkit.fluxcd.io/name": "tenants",
			"kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, false},
		"nobody knows": {nil, false},
	} {
		if got := isOurs(capi.Cluster{Object: capi.Object{Name: "demo"}, Labels: tc.labels}); got != tc.ours {
			t.Errorf("%s: ours %t", name, got)
		}
	}
}
