package capi

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Mark is an annotation.
type Mark struct{ Key, Value string }

// marking is the client of a move. clusterctl pauses a Cluster as a person does, so a later observer could not
// distinguish them. With marking, the write that pauses sets the mark, which is copied to the target with the rest, and
// the write that resumes removes it: pause and mark never differ.
type marking struct {
	client.Client
	mark Mark
}

// Patch adds the mark to patches that pause or resume a Cluster or a ClusterClass, and changes no other patch.
func (m marking) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if patch.Type() != types.MergePatchType || !m.pausable(o) {
		return m.Client.Patch(ctx, o, patch, opts...)
	}
	text, err := patch.Data(o)
	if err != nil {
		return err
	}
	if text, err = m.mark.with(text); err != nil {
		return fmt.Errorf("mark %s/%s as paused by the move: %w", o.GetNamespace(), o.GetName(), err)
	}
	return m.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, text), opts...)
}

// pausable reports whether clusterctl pauses the object. It patches a ClusterClass by its type, and a Cluster without.
func (m marking) pausable(o client.Object) bool {
	if m.mark.Key == "" {
		return false
	}
	switch typed := o.(type) {
	case *clusterv1.Cluster, *clusterv1.ClusterClass:
		return true
	case *unstructured.Unstructured:
		kind := typed.GroupVersionKind().GroupKind()
		return kind.Group == clusterv1.GroupVersion.Group &&
			(kind.Kind == clusterv1.ClusterKind || kind.Kind == clusterv1.ClusterClassKind)
	}
	return false
}

// with returns a merge patch that also sets the mark if it pauses, and removes it if it resumes.
func (m Mark) with(text []byte) ([]byte, error) {
	var patch map[string]any
	if err := json.Unmarshal(text, &patch); err != nil {
		return nil, err
	}
	pauses, found := pausedBy(patch)
	if !found {
		return text, nil
	}
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[m.Key] = nil
	if pauses {
		annotations[m.Key] = m.Value
	}
	metadata["annotations"], patch["metadata"] = annotations, metadata
	return json.Marshal(patch)
}

// pausedBy reports whether a merge patch pauses or resumes, by spec.paused of a Cluster or the annotation of a
// ClusterClass. found reports whether it does either.
func pausedBy(patch map[string]any) (pauses, found bool) {
	spec, _ := patch["spec"].(map[string]any)
	metadata, _ := patch["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if value, there := spec["paused"]; there {
		return value == true, true
	}
	if value, there := annotations[clusterv1.PausedAnnotation]; there {
		return value != nil, true
	}
	return false, false
}
