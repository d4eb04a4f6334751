package capi

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FromElsewhere returns the references from objects of other namespaces, of the kinds in a move, to the graph's own
// namespaces, whether the target exists or not. It is sorted by target.
func (g *Graph) FromElsewhere(ctx context.Context, c client.Reader) ([]Ref, error) {
	var not []fields.Selector
	for _, namespace := range g.namespaces {
		not = append(not, fields.OneTermNotEqualSelector("metadata.namespace", namespace))
	}
	others := client.MatchingFieldsSelector{Selector: fields.AndSelectors(not...)}
	namespaced := slices.DeleteFunc(slices.Clone(g.CRDs), func(crd CRD) bool { return !crd.Namespaced })
	var found []Ref
	err := eachAtOnce(namespaced, func(crd CRD) ([]Ref, error) {
		var refs []Ref
		err := listEach(ctx, c, crd.GVK, func(u *unstructured.Unstructured) error {
			n := refCollector{namespace: u.GetNamespace()}
			n.read(u.Object["spec"])
			for _, key := range n.keys {
				if slices.Contains(g.namespaces, key.Namespace) {
					refs = append(refs, Ref{From: ObjectOf(u), To: key})
				}
			}
			return nil
		}, others)
		return refs, err
	}, func(refs []Ref) { found = append(found, refs...) })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Ref) int {
		return strings.Compare(a.To.String()+" "+a.From.String(), b.To.String()+" "+b.From.String())
	})
	return slices.Compact(found), nil
}
