//go:build integration

package workload

import (
	"context"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// Everything that the management cluster cannot make is refused, and no object of the API server changes.
func refuses(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.Namespaces(ctx, t, "management", "team-c")
	env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Workload: true, Variables: func(string) (string, bool) { return "", false },
		Sets: []string{"cluster.name=shop", "cluster.namespace=team-c", "cluster.bootstrap_format=ignition"}})
	if err != nil {
		t.Fatal(err)
	}
	c := Cluster{Management: shared.Client, Self: self, Environment: env, Provider: place{},
		Machines: []environment.Range{{Path: "nodes", CIDR: "10.244.128.0/24"}},
		Follow:   rollout.Options{Now: time.Now, Heartbeat: time.Minute}}
	refused := func(when string, says ...string) {
		t.Helper()
		before := shared.Versions(ctx, t)
		err := c.Apply(ctx, &pipeline.Notes{})
		for _, text := range says {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %q", when, err, text)
			}
		}
		for _, change := range before.Changes(shared.Versions(ctx, t)) {
			t.Errorf("%s: %s", when, change)
		}
	}
	refused("without its own Cluster", "does not hold its own Cluster management/mgmt")
	own := fluxserver.NewCluster("management", "mgmt")
	own.Object["spec"] = map[string]any{"clusterNetwork": map[string]any{
		"pods": map[string]any{"cidrBlocks": []any{"10.244.0.0/16"}}}}
	shared.Create(ctx, t, own)
	refused("not available", "management/mgmt is not ready", "is not Available")
	shared.Patch(ctx, t, own, `{"status":{"conditions":[{"type":"Available","status":"True","reason":"A",`+
		`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	shared.Patch(ctx, t, own, `{"spec":{"paused":true}}`)
	refused("paused", "its Cluster is paused")
	shared.Patch(ctx, t, own, `{"spec":{"paused":null}}`)
	foreign := fluxserver.NewCluster("team-c", "shop")
	shared.Create(ctx, t, foreign)
	refused("nothing is there", "does not have the component capd", "does not have the component cabpk",
		"the Cluster team-c/shop exists, but workload apply did not create it",
		"10.244.128.0/24 overlaps with 10.244.0.0/16")
	shared.Remove(ctx, t, foreign)
	for _, name := range []string{"capi", "cabpk", "capd"} {
		k := madeBy(Key{flux.Namespace, flux.ReleaseName}, name)
		k.Name = name
		if name == "cabpk" {
			k.Spec.PostBuild = &kustomizev1.PostBuild{Substitute: map[string]string{
				"EXP_KUBEADM_BOOTSTRAP_FORMAT_IGNITION": "false"}}
		}
		shared.Create(ctx, t, k)
		if name != "capd" {
			k.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionTrue,
				Reason: "A", LastTransitionTime: metav1.Now()}}
			if err := shared.Client.Status().Update(ctx, k); err != nil {
				t.Fatal(err)
			}
		}
	}
	refused("a provider is not ready, another takes no Ignition", "component capd of the management cluster "+
		"management/mgmt is not ready",
		"the component cabpk of the management cluster management/mgmt does not accept it")
	refusesIdleControllers(ctx, t, refused)
	shared.Remove(ctx, t, own)
	installed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace,
		Name:        environment.ValuesName,
		Annotations: map[string]string{owned.InstalledAnnotation: self.String()}}}
	shared.Create(ctx, t, installed)
	refused("an existing cluster, which has no Cluster of its own", "component capd of the management cluster")
	overlapsInExisting(ctx, t, c)
	leaving, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		t.Fatal(err)
	}
	leaving.Spec.Suspend, leaving.Annotations = true, map[string]string{owned.SuspendedAnnotation: self.String()}
	shared.Create(ctx, t, leaving)
	refused("an existing cluster that is being uninstalled", "management/mgmt is being uninstalled")
	shared.Remove(ctx, t, leaving)
	shared.Patch(ctx, t, installed, `{"metadata":{"annotations":{"cluster-init.io/installed":"other/cluster"}}}`)
	refused("installed for another one", "does not hold its own Cluster management/mgmt")
	shared.Remove(ctx, t, installed)
}

// What is Ready is not enough: the controllers that wrote it must run. Flux is installed here, and runs nowhere.
func refusesIdleControllers(ctx context.Context, t *testing.T, refused func(when string, says ...string)) {
	t.Helper()
	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "cabpk"}}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		t.Fatal(err)
	}
	k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
		{ID: "cabpk-system_cabpk-controller-manager_apps_Deployment", Version: "v1"}}}
	if err := shared.Client.Status().Update(ctx, k); err != nil {
		t.Fatal(err)
	}
	refused("a Deployment is gone, and Flux does not run", "Deployment cabpk-controller-manager does not exist",
		"Deployment helm-controller has 0 of 1 replicas available (Deployment/flux-system/helm-controller)")
}

// An existing cluster says itself which networks it has. What it does not say is a warning.
func overlapsInExisting(ctx context.Context, t *testing.T, c Cluster) {
	t.Helper()
	notes := &pipeline.Notes{}
	before := shared.Versions(ctx, t)
	err := c.Check(ctx, notes)
	for _, change := range before.Changes(shared.Versions(ctx, t)) {
		t.Errorf("no range is known: %s", change)
	}
	if err == nil || strings.Contains(err.Error(), "overlaps") {
		t.Errorf("no range is known: %v", err)
	}
	if len(notes.Warnings) != 1 || !strings.Contains(notes.Warnings[0], "cluster's pod range") {
		t.Errorf("warned: %q", notes.Warnings)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec: corev1.NodeSpec{PodCIDR: "10.244.128.0/25", PodCIDRs: []string{"10.244.128.0/25"}}}
	shared.Create(ctx, t, node)
	if err := c.Check(ctx, notes); !strings.Contains(err.Error(), "overlaps with 10.244.128.0/25 of the management") {
		t.Errorf("the range of a node: %v", err)
	}
	shared.Remove(ctx, t, node)
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubeadm-config"},
		Data: map[string]string{"ClusterConfiguration": "networking:\n  podSubnet: 10.244.0.0/16,fd00::/56\n"}}
	shared.Create(ctx, t, stored)
	notes.Warnings = nil
	if err := c.Check(ctx, notes); !strings.Contains(err.Error(), "overlaps with 10.244.0.0/16 of the management") {
		t.Errorf("the range of kubeadm: %v", err)
	}
	if len(notes.Warnings) > 0 {
		t.Errorf("warned although all is known: %q", notes.Warnings)
	}
	shared.Remove(ctx, t, stored)
	c.Machines = []environment.Range{{Path: "nodes", CIDR: "10.0.0.0/24"}}
	if err := c.Check(ctx, notes); !strings.Contains(err.Error(), "overlaps with 10.0.0.0/24 of the management") {
		t.Errorf("the range of services: %v", err)
	}
}
