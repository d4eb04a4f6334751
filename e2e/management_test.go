//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// cluster is a management cluster as its user sees it: a kubeconfig and an API.
type cluster struct {
	*kube.Cluster
	name string // of its Cluster
}

// management connects to the management cluster that a run left.
func (l lab) management(t *testing.T) cluster {
	t.Helper()
	c := connect(t, l.kubeconfig(l.name))
	c.name = l.name
	return c
}

func connect(t *testing.T, kubeconfig string) cluster {
	t.Helper()
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect("management", content, clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Reachable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cluster{c, environmentName}
}

func (c cluster) list(t *testing.T, group, version, kind string) []unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind + "List"})
	if err := c.List(t.Context(), list); err != nil && !meta.IsNoMatchError(err) { // not every provider is there
		t.Fatalf("listing %s: %v", kind, err)
	}
	return list.Items
}

// managesItself fails the test unless the cluster is all there and well.
func (c cluster) managesItself(t *testing.T) {
	t.Helper()
	soonWithout(t, c.problems)
}

// soonWithout fails the test unless there are no problems within a minute: controllers look at their objects again and
// again, and call some in progress while they do.
func soonWithout(t *testing.T, problems func(*testing.T) []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		left := problems(t)
		if len(left) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			for _, problem := range left {
				t.Error(problem)
			}
			return
		case <-tick.C:
		}
	}
}

// problems returns what keeps the cluster from managing itself.
func (c cluster) problems(t *testing.T) (problems []string) {
	t.Helper()
	is := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var nodes corev1.NodeList
	if err := c.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	clusters := c.list(t, "cluster.x-k8s.io", "v1beta2", "Cluster")
	if len(clusters) != 1 || clusters[0].GetName() != c.name || paused(&clusters[0]) {
		is("clusters %v, want the one of its own, active", clusters)
	}
	machines := c.list(t, "cluster.x-k8s.io", "v1beta2", "Machine")
	if len(machines) == 0 || len(machines) != len(nodes.Items) {
		is("%d machines for %d nodes", len(machines), len(nodes.Items))
	}
	controlPlanes := append(c.list(t, "controlplane.cluster.x-k8s.io", "v1beta2", "KubeadmControlPlane"),
		c.list(t, "controlplane.cluster.x-k8s.io", "v1beta1", "RKE2ControlPlane")...)
	if len(controlPlanes) != 1 {
		is("%d control planes", len(controlPlanes))
	}
	kustomizations := c.list(t, "kustomize.toolkit.fluxcd.io", "v1", "Kustomization")
	if !slices.ContainsFunc(kustomizations,
		func(k unstructured.Unstructured) bool { return k.GetName() == "cluster" }) {
		is("the component `cluster` is not enabled")
	}
	all := slices.Concat(clusters, machines, controlPlanes, kustomizations, c.list(t, "helm.toolkit.fluxcd.io", "v2",
		"HelmRelease"))
	for i := range all {
		if why := unready(&all[i]); why != "" {
			is("%s", why)
		}
	}
	return problems
}

// generations returns the UID and generation of everything whose change would mean that a second run was not idle.
func (c cluster) generations(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, kind := range []schema.GroupVersionKind{
		{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"},
		{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"},
		{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"},
		{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmControlPlane"},
		{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta1", Kind: "RKE2ControlPlane"},
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "DevMachineTemplate"},
		{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"},
		{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"},
		{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
	} {
		for _, o := range c.list(t, kind.Group, kind.Version, kind.Kind) {
			found[o.GetKind()+"/"+o.GetName()] = string(o.GetUID()) + " " + strconv.FormatInt(o.GetGeneration(), 10)
		}
	}
	return found
}

// eventually polls until check is true; the bound is far above what the thing takes.
func eventually(t *testing.T, what string, bound time.Duration, check func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !check(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", bound, what)
		case <-tick.C:
		}
	}
}

func object(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

var _ client.Client = cluster{}
