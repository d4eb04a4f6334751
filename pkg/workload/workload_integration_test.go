//go:build integration

package workload

import (
	"context"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

var self = Key{"management", "mgmt"}

// release is a HelmRelease as `workload apply` makes it.
func release(key Key) *helmv2.HelmRelease {
	r, _ := flux.HelmRelease(flux.Release{Namespace: key.Namespace, Name: key.Name, Chart: key.called("chart")})
	key.label(r)
	return r
}

// madeBy is a Kustomization of a release.
func madeBy(key Key, component string) *kustomizev1.Kustomization {
	return &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace,
		Name: key.called(component), Labels: map[string]string{"helm.toolkit.fluxcd.io/name": key.Name,
			"helm.toolkit.fluxcd.io/namespace": key.Namespace, owned.ComponentLabel: component}},
		Spec: kustomizev1.KustomizationSpec{Interval: metav1.Duration{Duration: time.Minute},
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "s"}}}
}

// depot is the HelmRelease of the component depot, a chart.
func depot(key Key) *helmv2.HelmRelease { return chartRelease(key, "depot") }

// chartRelease is the HelmRelease of a component that is a chart.
func chartRelease(key Key, component string) *helmv2.HelmRelease {
	r, _ := flux.HelmRelease(flux.Release{Namespace: key.Namespace, Name: key.Name + "." + component, Chart: component})
	r.Labels = map[string]string{owned.ClusterLabel: key.Name}
	return r
}

// helmChart is what helm-controller makes for it. It has no label.
func helmChart(key Key) *sourcev1.HelmChart {
	return &sourcev1.HelmChart{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace,
		Name: key.Namespace + "-" + depot(key).Name}, Spec: sourcev1.HelmChartSpec{Chart: "depot",
		Interval:  metav1.Duration{Duration: time.Minute},
		SourceRef: sourcev1.LocalHelmChartSourceReference{Kind: "HelmRepository", Name: key.called("depot")}}}
}

// The tests of a management cluster: the kind Cluster is defined once for all of them.
func TestWorkloadClusters(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.DefineCluster(ctx, t)
	t.Run("a deletion deletes all of it", deletesAll)
	t.Run("a foreign cluster is not deleted", keepsForeign)
	t.Run("what is refused changes neither API server", refusalsChangeNothing)
	t.Run("what cannot be made is refused", refuses)
}

// A deletion takes along all of its cluster, and nothing of another cluster in the same namespace.
func deletesAll(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.Namespaces(ctx, t, "team-a")
	shop, till := Key{"team-a", "shop"}, Key{"team-a", "till"}
	for _, key := range []Key{shop, till} {
		source := &sourcev1.OCIRepository{Spec: sourcev1.OCIRepositorySpec{URL: "oci://registry/x",
			Interval: metav1.Duration{Duration: time.Minute}}}
		values, stored := &corev1.ConfigMap{}, &corev1.Secret{}
		key.name(source, "chart")
		key.name(values, "values")
		stored.Namespace, stored.Name = key.Namespace, "sh.helm.release.v1."+key.Name+".v1"
		stored.Labels = map[string]string{"owner": "helm", "name": key.Name}
		login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.called("cloud-config")}}
		k, chart := madeBy(key, "cluster"), madeBy(key, "depot")
		repository := &sourcev1.HelmRepository{ObjectMeta: chart.ObjectMeta,
			Spec: sourcev1.HelmRepositorySpec{URL: "https://charts.example.org"}}
		shared.Create(ctx, t, release(key), k, chart, source, values, stored, login, repository, depot(key),
			chartRelease(key, "disabled"), helmChart(key), fluxserver.NewCluster(key.Namespace, key.Name))
		chart.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
			{ID: key.Namespace + "_" + depot(key).Name + "_helm.toolkit.fluxcd.io_HelmRelease", Version: "v2"}}}
		if err := shared.Client.Status().Update(ctx, chart); err != nil {
			t.Fatal(err)
		}
		k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
			{ID: key.Namespace + "_" + key.Name + "_cluster.x-k8s.io_Cluster", Version: "v1beta2"},
			{ID: key.Namespace + "_" + login.Name + "__Secret", Version: "v1"},
			{ID: key.Namespace + "_gone_nowhere.example.org_Kind", Version: "v1"}}}
		if err := shared.Client.Status().Update(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-own"}}
	shared.Create(ctx, t, foreign)
	list, err := List(ctx, shared.Client, self)
	if err != nil || len(list) != 2 || list[0].Name != "shop" || !list[0].Release || list[0].State == Ready {
		t.Errorf("listed %+v, %v", list, err)
	}
	// Helm must not uninstall anything from a cluster that goes away.
	if err := deletion(shop).suspend(ctx); err != nil {
		t.Fatal(err)
	}
	for _, key := range []Key{shop, till} {
		var is helmv2.HelmRelease
		if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(depot(key)), &is); err != nil ||
			is.Spec.Suspend != (key == shop) {
			t.Errorf("%s: suspended %t, %v", is.Name, is.Spec.Suspend, err)
		}
	}
	if err := deletion(shop).Run(ctx, &pipeline.Notes{}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []Key{shop, till} {
		for _, o := range []client.Object{release(key), madeBy(key, "cluster"), madeBy(key, "depot"), depot(key),
			chartRelease(key, "disabled"), helmChart(key), &sourcev1.HelmRepository{ObjectMeta: madeBy(key, "depot").ObjectMeta},
			fluxserver.NewCluster(key.Namespace, key.Name),
			&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: key.called("chart")}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: key.called("values")}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: key.called("cloud-config")}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a",
				Name: "sh.helm.release.v1." + key.Name + ".v1"}}} {
			err := shared.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
			if key == shop && !apierrors.IsNotFound(err) || key == till && err != nil {
				t.Errorf("%T %s: %v", o, o.GetName(), err)
			}
		}
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(foreign), foreign); err != nil {
		t.Errorf("a Secret of the user's own: %v", err)
	}
	if err := deletion(shop).Run(ctx, &pipeline.Notes{}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("again: %v", err)
	}
}

func deletion(key Key) Deletion {
	return Deletion{Management: shared.Client, Key: key,
		Cluster:  clusters.Deletion{Cluster: shared.Client, Heartbeat: time.Minute, Now: time.Now},
		Provider: func(environment.Objects) (provider.Provider, error) { return place{}, nil }}
}

// What `workload apply` did not make is not deleted.
func keepsForeign(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.Namespaces(ctx, t, "team-b")
	cluster := fluxserver.NewCluster("team-b", "foreign")
	shared.Create(ctx, t, cluster)
	before := shared.Versions(ctx, t)
	if err := deletion(Key{"team-b", "foreign"}).Run(ctx, &pipeline.Notes{}); fault.CodeOf(err) != fault.ClusterForeign {
		t.Error(err)
	}
	for _, change := range before.Changes(shared.Versions(ctx, t)) {
		t.Errorf("a foreign cluster: %s", change)
	}
	committed := Key{"team-b", "committed"}
	owner, applied := madeBy(Key{"team-b", "apps"}, "all"), release(committed)
	applied.Labels["kustomize.toolkit.fluxcd.io/name"] = owner.Name
	applied.Labels["kustomize.toolkit.fluxcd.io/namespace"] = owner.Namespace
	shared.Create(ctx, t, owner, applied)
	before = shared.Versions(ctx, t)
	if err := deletion(committed).Run(ctx, &pipeline.Notes{}); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(fault.HintOf(err), "flux suspend kustomization -n team-b apps-all") {
		t.Errorf("a release that a Kustomization would apply again: %v", err)
	}
	for _, change := range before.Changes(shared.Versions(ctx, t)) {
		t.Errorf("a release that a Kustomization would apply again: %s", change)
	}
	shared.Patch(ctx, t, owner, `{"spec":{"suspend":true}}`)
	if err := deletion(committed).Run(ctx, &pipeline.Notes{}); err != nil {
		t.Error(err)
	}
}
