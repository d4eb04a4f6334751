//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TestMatrixInstall makes an existing cluster a management cluster. The run is killed and run again, and once more it
// changes nothing. The cluster makes a workload cluster, whose node is ready. cleanup keeps the registry that the
// cluster reads from. Then uninstall, killed and run again, leaves the cluster as it was. Another install uses a
// cert-manager that another owner brought.
func TestMatrixInstall(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	existing := existingCluster(t, l)
	t.Cleanup(func() { // before the network is removed: the registry is in it
		l.run(t, "cleanup", l.name, "--yes", "--force", l.name)
	})
	by := []string{"--kubeconfig", existing}
	bare := connect(t, existing).content(t)
	install := append([]string{"install", environmentName, "--bundle", l.bundle}, by...)
	if killed, code := l.killAt(t, func(e event.Event) bool {
		return e.Type == event.PhaseStarted && e.Phase == "release"
	}, install...); !killed {
		t.Fatalf("it was not killed, and ended with %d", code)
	}
	if code, _ := l.run(t, install...); code != 0 {
		t.Fatalf("install ended with %d", code)
	}
	management := connect(t, existing)
	before := management.generations(t)
	if code, _ := l.run(t, install...); code != 0 {
		t.Fatalf("install again ended with %d", code)
	}
	for object, generation := range management.generations(t) {
		if before[object] != generation {
			t.Errorf("%s: generation %s, was %s", object, generation, before[object])
		}
	}
	l.installed(t, by)
	if code, out := l.run(t, "cleanup", l.name, "--yes"); code != 72 {
		t.Errorf("cleanup of an installed cluster ended with %d: %s", code, out)
	}
	second := append([]string{"install", environmentName, "--bundle", l.bundle, "--set", "cluster.name=second"}, by...)
	if code, out := l.run(t, second...); code != 30 {
		t.Errorf("a second environment in the cluster ended with %d: %s", code, out)
	}
	in := append([]string{"--in", l.name}, by...)
	own := workloadName + "/" + workloadName
	apply := append([]string{"workload", "apply"}, l.workloadDefinition(by...)...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	printed, err := l.command(t.Context(), append([]string{"kubeconfig", l.name, "--workload", own}, by...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "workload")
	if err := os.WriteFile(file, printed, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := connect(t, file).readyNodes(t.Context()); n != 1 {
		t.Errorf("%d nodes are ready, want 1", n)
	}
	for _, command := range []string{"status", "diagnose"} {
		if code, out := l.run(t, append([]string{"workload", command, own}, in...)...); code != 0 {
			t.Errorf("workload %s ended with %d: %s", command, code, out)
		}
	}
	uninstall := append([]string{"uninstall", l.name, "--yes"}, by...)
	if code, out := l.run(t, uninstall...); code != 72 {
		t.Errorf("uninstall with a workload cluster ended with %d: %s", code, out)
	}
	l.deleteWorkload(t, own, in)
	management.deleteWorkloadNamespace(t)
	l.uninstalled(t, uninstall, existing, bare)
	l.adopts(t, install, uninstall, existing)
}

// uninstalled runs uninstall, kills it and runs it again, and compares the cluster with what it was before install.
func (l lab) uninstalled(t *testing.T, uninstall []string, existing string, bare []string) {
	t.Helper()
	if code, out := l.run(t, append([]string{"uninstall", l.name}, uninstall[3:]...)...); code != 71 {
		t.Errorf("uninstall without --yes ended with %d: %s", code, out)
	}
	if killed, code := l.killAt(t, func(e event.Event) bool {
		return e.Type == event.Progress && strings.Contains(e.Message, "removed component")
	}, uninstall...); !killed {
		t.Fatalf("uninstall was not killed, and ended with %d", code)
	}
	if code, _ := l.run(t, uninstall...); code != 0 {
		t.Fatalf("uninstall ended with %d", code)
	}
	eventually(t, "the namespace "+workloadName+" is gone", 2*time.Minute, func(context.Context) bool {
		return !slices.Contains(connect(t, existing).content(t), "Namespace /"+workloadName)
	})
	if difference := cmp.Diff(bare, connect(t, existing).content(t)); difference != "" {
		t.Errorf("before install (-) and after uninstall (+):\n%s", difference)
	}
	if left := containers(t, owned.ClusterLabel+"="+l.name); len(left) > 0 {
		t.Errorf("uninstall left containers: %v", left)
	}
	if code, out := l.run(t, uninstall...); code != 0 {
		t.Errorf("uninstall again ended with %d: %s", code, out)
	}
}

// content returns the namespaces, definitions, webhooks, roles and Deployments of the cluster.
func (c cluster) content(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, kind := range []schema.GroupVersionKind{{Version: "v1", Kind: "Namespace"},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
		{Group: "apps", Version: "v1", Kind: "Deployment"}} {
		for _, o := range c.list(t, kind.Group, kind.Version, kind.Kind) {
			all = append(all, kind.Kind+" "+o.GetNamespace()+"/"+o.GetName())
		}
	}
	slices.Sort(all)
	return all
}

// installed sees that the commands for a management cluster know one that has no Cluster of its own.
func (l lab) installed(t *testing.T, by []string) {
	t.Helper()
	for command, want := range map[string]string{"status": "the existing cluster is a management cluster",
		"diagnose": "", "diff": ""} {
		args := append([]string{command, l.name}, by...)
		if command != "diagnose" {
			args = append(args, "--bundle", l.bundle)
		}
		if command == "diff" {
			args = append(args, "--exit-code")
		}
		if code, out := l.run(t, args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s ended with %d: %s", command, code, out)
		}
	}
	if code, out := l.run(t, append([]string{"down", l.name, "--yes", "--bundle", l.bundle}, by...)...); code != 30 {
		t.Errorf("down of an installed cluster ended with %d: %s", code, out)
	}
}
