//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

const workloadName = "workload"

// workload makes a workload cluster of two machines in Ignition format, with Flux in it. The run is killed and run
// again. Its nodes are ready, so it has a pod network. Its worker is stopped, and replaced. Then it is deleted, and
// nothing of it is left.
func (l lab) workload(t *testing.T, management cluster) {
	in := []string{"--in", l.name}
	own := workloadName + "/" + workloadName
	definition := l.workloadDefinition("--set", "cluster.bootstrap_format=ignition", "--set",
		"components.flux.enabled=true", "--set", "cluster.worker.replicas=1", "--set", healSet)
	apply := append([]string{"workload", "apply"}, definition...)
	if killed, code := l.killAt(t, func(e event.Event) bool {
		return e.Type == event.Progress && strings.Contains(e.Message, "applied the HelmRelease")
	}, apply...); !killed {
		t.Fatalf("it was not killed, and ended with %d", code)
	}
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	l.hasReadyNodes(t, own, 2).hasFlux(t)
	management.isIgnition(t, workloadName)
	management.heals(t, workerOf(t, workloadName), func(worker string) {
		docker(t, "stop", worker)
		l.rendersTheSame(t, management, definition)
	})
	eventually(t, "the workload cluster is ready again", time.Minute, func(context.Context) bool {
		code, out := l.run(t, append([]string{"workload", "status", own}, in...)...)
		return code == 0 && strings.Contains(out, own+": Ready")
	})
	if code, out := l.run(t, append([]string{"workload", "diagnose", own, "-o", "json"}, in...)...); code != 0 ||
		!strings.Contains(out, `"clusters":["management","`+own+`"]`) {
		t.Errorf("workload diagnose ended with %d: %s", code, out)
	}
	l.deleteWorkload(t, own, in)
	for _, kind := range []struct{ group, version, kind string }{{"helm.toolkit.fluxcd.io", "v2", "HelmRelease"},
		{"kustomize.toolkit.fluxcd.io", "v1", "Kustomization"}, {"source.toolkit.fluxcd.io", "v1", "OCIRepository"},
		{"", "v1", "Secret"}} {
		for _, o := range management.list(t, kind.group, kind.version, kind.kind) {
			if o.GetNamespace() == workloadName {
				t.Errorf("%s %s is left", kind.kind, o.GetName())
			}
		}
	}
	management.deleteWorkloadNamespace(t)
}

// workloadDefinition returns the arguments of `workload apply` and `render` for the workload cluster of a test.
func (l lab) workloadDefinition(more ...string) []string {
	return append([]string{environmentName, "--name", workloadName, "--namespace", workloadName, "--bundle", l.bundle,
		"--in", l.name}, more...)
}

// deleteWorkloadNamespace deletes the namespace of the workload cluster, which `workload delete` leaves.
func (c cluster) deleteWorkloadNamespace(t *testing.T) {
	t.Helper()
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: workloadName}}); err != nil {
		t.Error(err)
	}
}

// rendersTheSame sees that `workload render` prints what `workload apply` has applied: a dry run of it changes nothing.
// args are the arguments of the run.
func (l lab) rendersTheSame(t *testing.T, management cluster, args []string) {
	t.Helper()
	found := 0
	for _, secrets := range []string{"--secrets=false", "--secrets"} {
		printed, err := l.command(t.Context(), append([]string{"workload", "render", secrets}, args...)...).Output()
		if err != nil {
			t.Fatalf("workload render %s: %v", secrets, err)
		}
		for _, rendered := range objectsOf(t, printed) {
			found++
			management.hasAlready(t, rendered)
		}
	}
	if found < 6 { // namespace, source, three of values, release
		t.Errorf("workload render prints %d objects", found)
	}
}

// objectsOf returns the objects of a stream of YAML documents.
func objectsOf(t *testing.T, stream []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 { // not only a comment
			all = append(all, o)
		}
	}
}

// hasAlready fails unless the cluster has an object as rendered: a dry run changes neither its spec nor its data.
func (c cluster) hasAlready(t *testing.T, rendered *unstructured.Unstructured) {
	t.Helper()
	body, err := rendered.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	before, after := rendered.DeepCopy(), rendered.DeepCopy()
	err = errors.Join(c.Get(t.Context(), client.ObjectKeyFromObject(rendered), before),
		c.Patch(t.Context(), after, client.RawPatch(types.ApplyPatchType, body), client.DryRunAll,
			client.FieldOwner("e2e"), client.ForceOwnership))
	if err != nil || after.GetGeneration() != before.GetGeneration() ||
		!reflect.DeepEqual(after.Object["data"], before.Object["data"]) {
		t.Errorf("the cluster does not have %s %s as rendered: %v", rendered.GetKind(), rendered.GetName(), err)
	}
}

// deleteWorkload deletes the workload cluster on Docker, and sees that nothing lists it any more. in are the flags that
// name the management cluster.
func (l lab) deleteWorkload(t *testing.T, own string, in []string) {
	t.Helper()
	if code, _ := l.run(t, append([]string{"workload", "delete", own, "--yes"}, in...)...); code != 0 {
		t.Fatalf("workload delete ended with %d", code)
	}
	if left := containers(t, "io.x-k8s.kind.cluster="+workloadName); len(left) > 0 {
		t.Errorf("containers left: %v", left)
	}
	if code, out := l.run(t, append([]string{"workload", "list"}, in...)...); code != 0 ||
		strings.Contains(out, workloadName) {
		t.Errorf("workload list ended with %d: %s", code, out)
	}
}

// isIgnition sees that the machines of a namespace were configured in Ignition format.
func (c cluster) isIgnition(t *testing.T, namespace string) {
	t.Helper()
	seen := 0
	for _, m := range c.list(t, "cluster.x-k8s.io", "v1beta2", "Machine") {
		if m.GetNamespace() != namespace {
			continue
		}
		seen++
		name, _, _ := unstructured.NestedString(m.Object, "spec", "bootstrap", "dataSecretName")
		secret := &corev1.Secret{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil ||
			string(secret.Data["format"]) != "ignition" {
			t.Errorf("machine %s has the format %q, %v", m.GetName(), secret.Data["format"], err)
		}
	}
	if seen != 2 {
		t.Errorf("%d machines in %s, want 2", seen, namespace)
	}
}

// hasReadyNode sees the only node of a workload cluster, and returns the cluster.
func (l lab) hasReadyNode(t *testing.T, workload string) cluster {
	t.Helper()
	return l.hasReadyNodes(t, workload, 1)
}

// hasReadyNodes sees the nodes of a workload cluster through the kubeconfig that the CLI prints, and returns the
// cluster.
func (l lab) hasReadyNodes(t *testing.T, workload string, count int) cluster {
	t.Helper()
	printed, err := l.command(t.Context(), "kubeconfig", l.name, "--workload", workload).Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "workload")
	if err := os.WriteFile(file, printed, 0o600); err != nil {
		t.Fatal(err)
	}
	inside := connect(t, file)
	if n := inside.readyNodes(t.Context()); n != count {
		t.Errorf("%d nodes are ready, want %d", n, count)
	}
	return inside
}

// hasFlux sees the controllers of Flux, and no more, available in a cluster.
func (c cluster) hasFlux(t *testing.T) {
	t.Helper()
	var all appsv1.DeploymentList
	if err := c.List(t.Context(), &all, client.InNamespace(flux.Namespace)); err != nil {
		t.Fatal(err)
	}
	if len(all.Items) != len(flux.Controllers()) {
		t.Errorf("%d Deployments in %s, want %v", len(all.Items), flux.Namespace, flux.Controllers())
	}
	for _, d := range all.Items {
		if d.Status.AvailableReplicas != 1 || !slices.Contains(flux.Controllers(), d.Name) {
			t.Errorf("Deployment %s has %d available replicas", d.Name, d.Status.AvailableReplicas)
		}
	}
}
