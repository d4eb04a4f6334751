package pivot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// compare holds the target against objects as they were, and returns what is wrong with each, without its content: it may be secret.
// An error means that the target did not say.
func compare(ctx context.Context, target Side, saved []*unstructured.Unstructured) (wrong []string, err error) {
	for _, want := range saved {
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(want.GroupVersionKind())
		err := target.Client.Get(ctx, client.ObjectKeyFromObject(want), got)
		switch {
		case apierrors.IsNotFound(err):
			wrong = append(wrong, capi.ObjectOf(want).String()+" is not there")
		case err != nil:
			return nil, fmt.Errorf("read %s on the target: %w", capi.ObjectOf(want), err)
		case want.GetNamespace() == "": // both sides keep it, and a move never overwrites it
		default:
			for _, part := range differing(want, got) {
				wrong = append(wrong, fmt.Sprintf("%s has another %s", capi.ObjectOf(want), part))
			}
		}
	}
	return wrong, nil
}

// differing names the parts in which two states of one object differ, but for what a move itself changes: whether it is paused, the marks of
// the move, the owners' UIDs, the status.
func differing(want, got *unstructured.Unstructured) []string {
	var parts []string
	keys := map[string]bool{}
	for _, u := range []*unstructured.Unstructured{want, got} {
		for key := range u.Object {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) && content(want, key) != content(got, key) {
			parts = append(parts, key)
		}
	}
	if !maps.Equal(want.GetLabels(), got.GetLabels()) {
		parts = append(parts, "label")
	}
	if !beingDeleted(want) && !maps.Equal(keptAnnotations(want), keptAnnotations(got)) {
		parts = append(parts, "annotation")
	}
	if !slices.Equal(owners(want), owners(got)) {
		parts = append(parts, "owner")
	}
	return parts
}

// content is a field as JSON, without the pause: a number is the same whether it was read from a file or not. What is empty is nothing.
func content(u *unstructured.Unstructured, key string) string {
	value := u.Object[key]
	if fields, isMap := value.(map[string]any); isMap && key == "spec" && u.GetKind() == clusterv1.ClusterKind {
		fields = maps.Clone(fields)
		delete(fields, "paused")
		value = fields
	}
	text, err := json.Marshal(value)
	if err != nil || slices.Contains([]string{"null", "{}", "[]"}, string(text)) { // what comes from an API server or a file is always JSON
		return ""
	}
	return string(text)
}

// beingDeleted says whether a move has begun to delete an object: then its annotations are those of the move.
func beingDeleted(u *unstructured.Unstructured) bool {
	_, marked := u.GetAnnotations()[clusterctlv1.DeleteForMoveAnnotation]
	return marked || u.GetDeletionTimestamp() != nil
}

func keptAnnotations(u *unstructured.Unstructured) map[string]string {
	kept := maps.Clone(u.GetAnnotations())
	for _, passing := range []string{clusterv1.PausedAnnotation, clusterctlv1.DeleteForMoveAnnotation, corev1.LastAppliedConfigAnnotation} {
		delete(kept, passing)
	}
	return kept
}

func owners(u *unstructured.Unstructured) []string {
	var names []string
	for _, o := range u.GetOwnerReferences() {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		names = append(names, cmp.Or(group, "-")+" "+o.Kind+" "+o.Name)
	}
	slices.Sort(names)
	return names
}
