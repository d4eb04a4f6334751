//go:build integration

package rollout

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

const (
	shopDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Shop, listKind: ShopList, plural: shops, singular: shop}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
	shopNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop-system}\n"
	shopSettings  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\n"
	shopManager   = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop-controller-manager, namespace: default}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: manager, image: "example.org/shop:v1"}]}
`
)

// A commit that lacks the definitions of Cluster API, which the real kustomize-controller applies, leaves them and all
// Clusters where they are; what else it lacks goes. Without the chart's patches everything goes: that is seen first.
func TestACommitWithoutDefinitionsTakesNothingAway(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shared.RunKustomizeController(t)
	source := shared.NewSource(ctx, t)
	component := chartComponent(t, "capi")
	component.Spec.Path, component.Spec.DependsOn, component.Spec.Wait = "./capi", nil, false
	bare := component.DeepCopy()
	bare.Spec.Patches = nil
	full := map[string]string{"capi/kustomization.yaml": "resources: [crd.yaml, namespace.yaml, settings.yaml, " +
		"manager.yaml]\n",
		"capi/crd.yaml": shopDefinition, "capi/namespace.yaml": shopNamespace, "capi/settings.yaml": shopSettings,
		"capi/manager.yaml": shopManager}
	// A deleted namespace stays terminating here: its controller does not run.
	withNamespace := map[string]string{"capi/kustomization.yaml": "resources: [namespace.yaml, manager.yaml]\n",
		"capi/namespace.yaml": shopNamespace, "capi/manager.yaml": shopManager}
	broken := map[string]string{"capi/kustomization.yaml": "resources: [manager.yaml]\n",
		"capi/manager.yaml": shopManager}

	s := pruned{t, ctx}
	revision := source.Commit(ctx, t, full)
	shared.Create(ctx, t, bare)
	s.applied(bare, revision)
	s.shop()
	if s.strategy() != "RollingUpdate" {
		t.Errorf("the manager's strategy is %q", s.strategy())
	}
	s.applied(bare, source.Commit(ctx, t, withNamespace))
	s.gone("ConfigMap", "default", "settings")
	s.gone("CustomResourceDefinition", "", "shops.example.org")

	shared.Patch(ctx, t, bare, `{"spec":{"patches":`+patchesOf(t, component)+`}}`)
	s.applied(bare, source.Commit(ctx, t, full))
	if s.strategy() != "Recreate" {
		t.Errorf("the manager's strategy is %q", s.strategy())
	}
	s.shop()
	s.applied(bare, source.Commit(ctx, t, broken))
	s.gone("ConfigMap", "default", "settings")
	s.there()

	full["capi/crd.yaml"] = strings.NewReplacer("shops.example.org}",
		"shops.example.org, annotations: {kustomize.toolkit.fluxcd.io/force: enabled}}",
		"Namespaced", "Cluster").Replace(shopDefinition)
	source.Commit(ctx, t, full)
	s.refused(bare, "spec.scope")
	s.there()

	full["capi/crd.yaml"] = shopDefinition
	s.applied(bare, source.Commit(ctx, t, full))
	shared.Remove(ctx, t, bare) // the component is switched off
	s.gone("Kustomization", bare.Namespace, bare.Name)
	s.there()
	s.has("ConfigMap", "default", "settings")
}

// chartComponent is the Kustomization that the chart makes for a component, in Flux's namespace, from a Git repository.
func chartComponent(t *testing.T, name string, sets ...string) *kustomizev1.Kustomization {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := env.Render(environment.Management,
		map[string]any{"source": map[string]any{"kind": "GitRepository"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range rendered {
		if object.GetKind() == "Kustomization" && object.GetName() == name {
			k := &kustomizev1.Kustomization{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, k); err != nil {
				t.Fatal(err)
			}
			k.Namespace = flux.Namespace
			return k
		}
	}
	t.Fatalf("the chart makes no component %s", name)
	return nil
}

func patchesOf(t *testing.T, k *kustomizev1.Kustomization) string {
	t.Helper()
	text, err := json.Marshal(k.Spec.Patches)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pruned looks at what a component has left.
type pruned struct {
	t   *testing.T
	ctx context.Context
}

// applied waits until a revision is applied.
func (p pruned) applied(k *kustomizev1.Kustomization, revision string) {
	p.t.Helper()
	seen := &kustomizev1.Kustomization{}
	err := wait.PollUntilContextTimeout(p.ctx, 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			err := shared.Client.Get(ctx, client.ObjectKeyFromObject(k), seen)
			return err == nil && seen.Status.LastAppliedRevision == revision &&
				seen.Status.ObservedGeneration == seen.Generation &&
				apimeta.IsStatusConditionTrue(seen.Status.Conditions, fluxmeta.ReadyCondition), err
		})
	if err != nil {
		p.t.Fatalf("apply %s: %v: %+v", revision, err, seen.Status.Conditions)
	}
}

// refused waits until an apply fails with these words.
func (p pruned) refused(k *kustomizev1.Kustomization, says string) {
	p.t.Helper()
	seen := &kustomizev1.Kustomization{}
	err := wait.PollUntilContextTimeout(p.ctx, 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			err := shared.Client.Get(ctx, client.ObjectKeyFromObject(k), seen)
			ready := apimeta.FindStatusCondition(seen.Status.Conditions, fluxmeta.ReadyCondition)
			return err == nil && ready != nil && ready.Status == "False" && strings.Contains(ready.Message, says), err
		})
	if err != nil {
		p.t.Fatalf("it is not refused: %v: %+v", err, seen.Status.Conditions)
	}
}

// shop makes an object of the kind that the component defines, in place of a Cluster.
func (p pruned) shop() {
	p.t.Helper()
	shop := p.object("Shop", "default", "prod")
	err := wait.PollUntilContextTimeout(p.ctx, 50*time.Millisecond, 20*time.Second, true,
		func(ctx context.Context) (bool, error) {
			err := shared.Client.Create(ctx, shop.DeepCopy())
			return err == nil || apierrors.IsAlreadyExists(err), nil
		})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p pruned) object(kind, namespace, name string) *unstructured.Unstructured {
	versions := map[string]string{"Shop": "example.org/v1", "MachineHealthCheck": "cluster.x-k8s.io/v1beta2", "CustomResourceDefinition": "apiextensions.k8s.io/v1",
		"Deployment": "apps/v1", "Kustomization": "kustomize.toolkit.fluxcd.io/v1"}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	if version, other := versions[kind]; other {
		o.SetAPIVersion(version)
	}
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func (p pruned) strategy() string {
	p.t.Helper()
	o := p.object("Deployment", "default", "shop-controller-manager")
	if err := shared.Client.Get(p.ctx, client.ObjectKeyFromObject(o), o); err != nil {
		p.t.Fatal(err)
	}
	strategy, _, _ := unstructured.NestedString(o.Object, "spec", "strategy", "type")
	return strategy
}

// gone waits until an object is not there.
func (p pruned) gone(kind, namespace, name string) {
	p.t.Helper()
	err := wait.PollUntilContextTimeout(p.ctx, 50*time.Millisecond, 20*time.Second, true,
		func(ctx context.Context) (bool, error) {
			o := p.object(kind, namespace, name)
			return apierrors.IsNotFound(shared.Client.Get(ctx, client.ObjectKeyFromObject(o), o)), nil
		})
	if err != nil {
		p.t.Errorf("%s %s is still there", kind, name)
	}
}

// there verifies that the definition, the namespace and the object exist and are not being deleted.
func (p pruned) there() {
	p.t.Helper()
	p.has("CustomResourceDefinition", "", "shops.example.org")
	p.has("Namespace", "", "shop-system")
	p.has("Shop", "default", "prod")
}

func (p pruned) has(kind, namespace, name string) {
	p.t.Helper()
	o := p.object(kind, namespace, name)
	if err := shared.Client.Get(p.ctx, client.ObjectKeyFromObject(o), o); err != nil ||
		o.GetDeletionTimestamp() != nil {
		p.t.Errorf("%s %s: %v, deleted at %v", kind, name, err, o.GetDeletionTimestamp())
	}
}
