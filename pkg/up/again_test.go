package up

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// recordingWorld records, in order, the observation right before something is destroyed, and the changes after it. If
// seen is nil, that observation does not allow the change.
type recordingWorld struct {
	confirmingWorld
	seen *clusters.Observation
	path string
	did  *[]string
}

func (r recordingWorld) note(what string) { *r.did = append(*r.did, what) }

func (r recordingWorld) confirm(ctx context.Context, allows decision) (clusters.Observation, error) {
	r.note("confirm " + string(allows))
	if o, err := r.confirmingWorld.confirm(ctx, allows); r.seen == nil {
		return o, err
	}
	return *r.seen, nil
}

func (r recordingWorld) ForgetBootstrap() error   { return os.Remove(r.path) }
func (r recordingWorld) EndLease(cluster string)  { r.note("end the lease of " + cluster) }
func (r recordingWorld) APIServerAddress() string { return "" }
func (r recordingWorld) ReachedAt() string        { return "" }
func (r recordingWorld) SetAside() error {
	r.note("set aside")
	return errors.New("this test makes nothing")
}
func (r recordingWorld) AdoptBootstrap(context.Context, pipeline.Reporter) error {
	r.note("adopt")
	return nil
}

func newRecordingWorld(t *testing.T, seen *clusters.Observation) recordingWorld {
	t.Helper()
	var confirmed decision
	path := filepath.Join(t.TempDir(), "bootstrap.kubeconfig")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return recordingWorld{confirmingWorld{seenWorld{seen: pivoted}, &confirmed}, seen, path, &[]string{}}
}

// engineCalls replaces the docker CLI, which kind runs, by a script: an engine with the bootstrap cluster of demo. The
// result returns what the script was called to remove.
func engineCalls(t *testing.T) func() string {
	t.Helper()
	folder := t.TempDir()
	script := "#!/bin/sh\ncase \"$1\" in\nps) echo demo-bootstrap-control-plane ;;\nrm) echo \"$*\" >>" + folder +
		"/removed ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func() string {
		removed, _ := os.ReadFile(filepath.Join(folder, "removed"))
		return string(removed)
	}
}

// holding is a bootstrap cluster that answers and holds the Clusters of a JSON list. With "" the list of Clusters
// fails.
func holding(t *testing.T, list string) *kube.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			_, _ = w.Write([]byte(`{"kind":"APIVersions","versions":["v1"]}`))
		case "/apis":
			_,
				_ = w.Write(
				[]byte(
					`{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"cluster.x-k8s.io","versions":[{"groupVersion":"cluster.x-k8s.io/v1beta2","version":"v1beta2"}],"preferredVersion":{"groupVersion":"cluster.x-k8s.io/v1beta2","version":"v1beta2"}}]}`))
		case "/apis/cluster.x-k8s.io/v1beta2":
			_,
				_ = w.Write(
				[]byte(
					`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"cluster.x-k8s.io/v1beta2","resources":[{"name":"clusters","singularName":"cluster","namespaced":true,"kind":"Cluster","verbs":["list","get"]}]}`))
		case "/apis/cluster.x-k8s.io/v1beta2/clusters":
			if list == "" {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			_,
				_ = w.Write(
				[]byte(`{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{},"items":[` + list +
					`]}`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	kubeconfig := "{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: '" +
		server.URL + "'}}], contexts: [{name: c, context: {cluster: c}}]}"
	c, err := kube.Connect("bootstrap", []byte(kubeconfig), runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func heldCluster(namespace, name, paused string) string {
	return `{"kind":"Cluster","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{"namespace":"` + namespace +
		`","name":"` + name + `"},"spec":{"paused":` + paused + `}}`
}

// The bootstrap cluster is deleted only after an observation that the pivot is done and that it holds nothing else.
func TestTheBootstrapClusterIsLookedAtRightBeforeItIsDeleted(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"cluster.name=demo", "cluster.namespace=ns"}})
	if err != nil {
		t.Fatal(err)
	}
	own := heldCluster("ns", "demo", "true")
	for name, tc := range map[string]struct {
		refuted bool    // the observation right before does not allow it
		holds   *string // nil: it does not answer, and the verdict stays the same
		code    fault.Code
		names   []string
		deleted bool
	}{
		"something has changed":               {refuted: true},
		"it holds nothing":                    {holds: ptr.To(" "), deleted: true},
		"it holds what our pivot left paused": {holds: &own, deleted: true},
		"it holds a Cluster of another namespace": {holds: ptr.To(own + "," + heldCluster("tenant", "demo", "true")),
			code: fault.PivotRefused, names: []string{"tenant/demo"}},
		"it holds two of others": {holds: ptr.To(heldCluster("tenant", "a", "false") + "," +
			heldCluster("ns", "b", "true")), code: fault.PivotRefused, names: []string{"tenant/a", "ns/b"}},
		"it holds ours, which is active": {holds: ptr.To(heldCluster("ns", "demo", "false")),
			code: fault.PivotRefused, names: []string{"ns/demo"}},
		"it does not say what it holds": {holds: ptr.To(""),
			names: []string{"list the Clusters that the bootstrap cluster still holds"}},
		"it is stopped, after a proven pivot": {deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			removed := engineCalls(t)
			seen := &clusters.Observation{}
			if tc.holds != nil {
				seen.Bootstrap.Cluster = holding(t, *tc.holds)
			}
			if tc.refuted {
				seen = nil
			}
			w := newRecordingWorld(t, seen)
			phase := bootstrapRemoval{world: w,
				options: Options{Subject: clusters.Subject{Identity: clusters.IdentityOf(env)}, Environment: env},
				scope:   clusters.Scope{Namespace: "ns", Cluster: "demo"}, kind: kind.New(func(string) {})}
			err := phase.run(t.Context(), silence{})
			if (err == nil) != tc.deleted || tc.code != "" && fault.CodeOf(err) != tc.code {
				t.Errorf("error %v, code %q", err, fault.CodeOf(err))
			}
			for _, part := range tc.names {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in %v", part, err)
				}
			}
			if tc.code == fault.PivotRefused && !strings.Contains(fault.HintOf(err), "--keep-bootstrap") {
				t.Errorf("hint %q", fault.HintOf(err))
			}
			want := []string{"confirm " + string(pivoted)}
			if tc.deleted {
				want = append(want, "end the lease of bootstrap")
			}
			if !slices.Equal(*w.did, want) {
				t.Errorf("it did %v, want %v", *w.did, want)
			}
			if got := strings.Contains(removed(), "demo-bootstrap-control-plane"); got != tc.deleted {
				t.Errorf("the node is removed: %t, want %t (%q)", got, tc.deleted, removed())
			}
			if _, err := os.Stat(w.path); (err != nil) != tc.deleted {
				t.Errorf("its kubeconfig is gone: %t, want %t", err != nil, tc.deleted)
			}
		})
	}
}

// An existing bootstrap cluster is deleted and recreated only after an observation that nothing was built with it.
func TestTheBootstrapClusterIsMadeAfterALookThatAllowsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		seen *clusters.Observation
		want []string
	}{
		"it is allowed":         {&clusters.Observation{}, []string{"confirm " + string(fresh), "set aside"}},
		"something has changed": {nil, []string{"confirm " + string(fresh)}},
	} {
		removed := engineCalls(t)
		w := newRecordingWorld(t, tc.seen)
		if err := (bootstrapCluster{world: w}).create(t.Context(), bootstrap.Cluster{}, silence{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if !slices.Equal(*w.did, tc.want) || removed() != "" {
			t.Errorf("%s: it did %v and removed %q, want %v", name, *w.did, removed(), tc.want)
		}
	}
}

// The first run with a bootstrap cluster of the user's own finds that cluster, and resumes nothing.
func TestWhatCountsAsResumed(t *testing.T) {
	for name, tc := range map[string]struct {
		b     clusters.BootstrapState
		given bool
		want  bool
	}{
		"nothing exists":                     {clusters.BootstrapAbsent, false, false},
		"a bootstrap cluster of a run":       {clusters.BootstrapEmpty, false, true},
		"the user's own, empty":              {clusters.BootstrapEmpty, true, false},
		"the user's own, holds a definition": {clusters.BootstrapActive, true, true},
	} {
		o := seen(tc.b, clusters.ManagementAbsent)
		if got := resumes(o, judge(o, thisRun), tc.given); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
