package selfmanaged

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
)

var kustomizationKind = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1",
	Kind: "Kustomization"}

func checkKustomizations(ctx context.Context, c client.Client, wanted []client.ObjectKey) ([]Unmet, error) {
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(kustomizationKind.GroupVersion().WithKind(kustomizationKind.Kind + "List"))
	err := c.List(ctx, found)
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("list Kustomizations: %w", err)
	}
	byKey := map[client.ObjectKey]*unstructured.Unstructured{}
	for i := range found.Items {
		key := client.ObjectKeyFromObject(&found.Items[i])
		byKey[key] = &found.Items[i]
	}
	if len(wanted) == 0 {
		for i := range found.Items {
			wanted = append(wanted, client.ObjectKeyFromObject(&found.Items[i]))
		}
	}
	if len(wanted) == 0 {
		return []Unmet{{Aspect: AspectKustomization, Object: "Flux", Message: "has no Kustomization yet",
			Waiting: true}}, nil
	}
	var unmet []Unmet
	for _, key := range wanted {
		if problem, waiting := kustomizationProblem(byKey[key]); problem != "" {
			unmet = append(unmet, Unmet{
				Aspect: AspectKustomization, Object: "Kustomization " + key.String(), Message: problem,
				Waiting: waiting,
			})
		}
	}
	return unmet, nil
}

// kustomizationProblem returns why a Kustomization is not ready; "" if it is. Flux writes observedGeneration in the
// status and in each condition; both must be of the latest spec.
func kustomizationProblem(k *unstructured.Unstructured) (problem string, waiting bool) {
	if k == nil {
		return "does not exist", true
	}
	if suspended, _, _ := unstructured.NestedBool(k.Object, "spec", "suspend"); suspended {
		return "is suspended", false
	}
	if seen, _, _ := unstructured.NestedInt64(k.Object, "status", "observedGeneration"); seen < k.GetGeneration() {
		return "its latest spec was not yet applied", true
	}
	if ready := health.ConditionOf(k, "Ready"); !ready.True() {
		return ready.String(), true
	}
	return "", false
}
