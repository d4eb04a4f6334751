//go:build integration

package install

import (
	"context"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// A second run accepts the objects that the Helm chart of a component has made.
func acceptsCharts(ctx context.Context, t *testing.T) {
	newShop := func() (*Run, context.Context) {
		return newRun(ctx, t, "components.shop.enabled=management-only", "components.shop.namespaces={shop}",
			"components.shop.chart.url=https://charts.example.org/stable", "components.shop.chart.name=shop",
			"components.shop.chart.version=1.2.3")
	}
	first, leased := newShop()
	notes := &pipeline.Notes{}
	if err := first.preflight(ctx, notes); err != nil {
		t.Fatal(err)
	}
	if err := first.values(leased, notes); err != nil {
		t.Fatal(err)
	}
	release := rollout.Release{Environment: first.Environment, Source: first.Source, Phase: environment.Management}
	_, err := release.Apply(ctx, first.cluster, clusters.Suspension(first.cluster, first.Scope), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	first.world.Leases.ReleaseAll()
	putComponent(ctx, t, "shop", true, "", `{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease",
		"metadata":{"name":"shop","namespace":"flux-system"},"spec":{"interval":"10m","targetNamespace":"shop",
		"chartRef":{"kind":"OCIRepository","name":"chart-shop"}}}`)
	shared.Namespaces(ctx, t, "shop")
	operator := newDeployment("operator")
	operator.Labels = map[string]string{helmv2.GroupVersion.Group + "/name": "shop",
		helmv2.GroupVersion.Group + "/namespace": flux.Namespace}
	shared.Create(ctx, t, operator)
	operated := newDeployment("operated")
	operated.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(operator,
		appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	shared.Create(ctx, t, operated)
	before, err := first.applied(ctx)
	if err != nil {
		t.Fatal(err)
	}

	second, leased := newShop()
	if err := second.preflight(ctx, notes); err != nil {
		t.Errorf("the second run: %v", err)
	}
	if err := second.values(leased, notes); err != nil {
		t.Errorf("the values of the second run: %v", err)
	}
	second.world.Leases.ReleaseAll()
	release.Environment = second.Environment
	_, err = release.Apply(ctx, first.cluster, clusters.Suspension(first.cluster, first.Scope), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if after, err := first.applied(ctx); err != nil || len(after) != len(before) {
		t.Errorf("the second run has %v, %v, the first one %v", after, err, before)
	} else {
		for key, generation := range before {
			if after[key] != generation {
				t.Errorf("the second run changes %s: %s, not %s", key, after[key], generation)
			}
		}
	}

	orphan := newDeployment("orphan")
	orphan.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(operator,
		appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	orphan.OwnerReferences[0].UID = "another"
	foreign := newDeployment("theirs")
	foreign.Labels = map[string]string{helmv2.GroupVersion.Group + "/name": "shop",
		helmv2.GroupVersion.Group + "/namespace": "another"}
	shared.Create(ctx, t, orphan, foreign)
	err = second.checkForeign(ctx)
	if fault.CodeOf(err) != fault.ClusterForeign || !strings.Contains(err.Error(),
		": Deployment shop/orphan, Deployment shop/theirs") {
		t.Errorf("Deployments of others in the same namespace: %v", err)
	}
	removeShop(ctx, t)
}

// newDeployment returns a Deployment that the server accepts.
func newDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"a": "b"}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}}}
}

// removeShop removes the component shop and the release, for the tests that follow.
func removeShop(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, name := range []string{"operator", "operated", "orphan", "theirs"} {
		shared.Remove(ctx, t, newDeployment(name))
	}
	release, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		t.Fatal(err)
	}
	shop, err := flux.HelmRelease(flux.Release{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	component := &kustomizev1.Kustomization{}
	component.Namespace, component.Name = flux.Namespace, "shop"
	stored := environment.Objects{Values: &corev1.ConfigMap{}, Secrets: &corev1.Secret{},
		InfraSecrets: &corev1.Secret{}}
	stored.Values.Namespace, stored.Values.Name = environment.Namespace, environment.ValuesName
	stored.Secrets.Namespace, stored.Secrets.Name = environment.Namespace, environment.SecretsName
	stored.InfraSecrets.Namespace, stored.InfraSecrets.Name = environment.Namespace, environment.InfraSecretsName
	shared.Remove(ctx, t, release, shop, component, stored.Values, stored.Secrets, stored.InfraSecrets)
}
