package install

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// mark is the ConfigMap that says whose management cluster a cluster is. It goes last.
type mark struct {
	*corev1.ConfigMap // nil: there is none
}

func newMark() *corev1.ConfigMap {
	m := &corev1.ConfigMap{}
	m.Namespace, m.Name = environment.Namespace, environment.ValuesName
	return m
}

func readMark(ctx context.Context, c *kube.Cluster) (mark, error) {
	m := newMark()
	exists, err := c.Exists(ctx, m)
	if err != nil || !exists {
		return mark{}, err
	}
	return mark{m}, nil
}

// namespaces returns the namespaces that are recorded as those of others. A release of an earlier version of this
// program has no record.
func (m mark) namespaces() map[string]bool {
	found := map[string]bool{}
	if m.ConfigMap != nil && m.Annotations[owned.NamespacesAnnotation] != "" {
		for name := range strings.SplitSeq(m.Annotations[owned.NamespacesAnnotation], ",") {
			found[name] = true
		}
	}
	return found
}

// removalRecord is what an uninstall that has begun removes, see owned.RemovalAnnotation.
type removalRecord struct {
	Removes []string `json:"removes"` // Kustomizations whose objects go
	Leaves  []string `json:"leaves"`  // Kustomizations whose objects stay
	Charts  []string `json:"charts"`  // HelmReleases
}

// removal returns the record of an uninstall that has begun; empty if none has.
func (m mark) removal() (removes, leaves, charts names, err error) {
	if m.ConfigMap == nil || m.Annotations[owned.RemovalAnnotation] == "" {
		return names{}, names{}, names{}, nil
	}
	var r removalRecord
	if err := json.Unmarshal([]byte(m.Annotations[owned.RemovalAnnotation]), &r); err != nil {
		return nil, nil, nil, fmt.Errorf("read the annotation %s of ConfigMap %s/%s: %w", owned.RemovalAnnotation,
			m.Namespace, m.Name, err)
	}
	return parseNames(r.Removes), parseNames(r.Leaves), parseNames(r.Charts), nil
}

// parseNames returns the names in the texts of sorted.
func parseNames(texts []string) names {
	found := names{}
	for _, text := range texts {
		namespace, name, _ := strings.Cut(text, "/")
		found[client.ObjectKey{Namespace: namespace, Name: name}] = true
	}
	return found
}

// hasName reports whether one of the names is this one, in whatever namespace.
func (n names) hasName(name string) bool {
	for key, is := range n {
		if is && key.Name == name {
			return true
		}
	}
	return false
}

// begin records in the mark what this run removes, before it removes anything.
func (r *Removal) begin(ctx context.Context, found inventory) error {
	if found.mark.ConfigMap == nil {
		return nil // only the namespace of Flux is left
	}
	text, err := json.Marshal(removalRecord{found.removes.sorted(), found.leaves.sorted(), found.charts.sorted()})
	if err != nil || string(text) == found.mark.Annotations[owned.RemovalAnnotation] {
		return err
	}
	return annotate(ctx, r.cluster, newMark(), owned.RemovalAnnotation, string(text))
}

// removeMark deletes the namespace of Flux, if that goes, and the mark. Nothing else of the release may be left.
func (r *Removal) removeMark(ctx context.Context, found inventory, report pipeline.Reporter) error {
	if err := found.prove(); err != nil {
		return err
	}
	namespaces := slices.DeleteFunc(slices.Clone(found.flux), func(o object) bool { return o.Kind != "Namespace" })
	if len(namespaces) > 0 && !found.fluxIsUsed() {
		for _, o := range namespaces {
			if o.Name != flux.Namespace || found.keeps(o) || o.DeletionTimestamp != nil {
				continue
			}
			err := annotate(ctx, r.cluster, o, owned.RemovalAnnotation, owned.SuspendedFor(r.Namespace, r.Cluster))
			if err != nil {
				return err
			}
		}
		err := r.removeInOrder(ctx, found, namespaces, "Flux", client.MatchingLabels{partOf: "flux"}, report)
		if err != nil {
			return err
		}
	}
	if err := client.IgnoreNotFound(r.cluster.Delete(ctx, newMark())); err != nil {
		return fmt.Errorf("delete the ConfigMap %s/%s: %w", environment.Namespace, environment.ValuesName, err)
	}
	report.Progress("nothing of %s is left in the cluster", r.Cluster)
	return nil
}

// annotate sets an annotation of an object, or removes it if the value is empty.
func annotate(ctx context.Context, c *kube.Cluster, o client.Object, key, value string) error {
	annotations := map[string]any{key: nil}
	if value != "" {
		annotations[key] = value
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	// the same owner always: a namespace that another one has written stays
	err = c.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(kube.FieldOwner))
	if err != nil {
		return fmt.Errorf("set the annotation %s of %s: %w", key, client.ObjectKeyFromObject(o), err)
	}
	return nil
}

// sorted returns names as texts.
func (n names) sorted() []string {
	all := []string{}
	for key, is := range n {
		if is {
			all = append(all, key.String())
		}
	}
	slices.Sort(all)
	return all
}
