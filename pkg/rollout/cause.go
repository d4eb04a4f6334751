package rollout

import (
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// causesFirst puts the unready objects that an object owns before it, the deepest first: a Cluster reports only how
// many steps its infrastructure has done, and its infrastructure reports which one fails.
func (v *view) causesFirst(list []event.Object) []event.Object {
	var out []event.Object
	for _, o := range list {
		for _, each := range append(v.causes(Key{o.Kind, o.Namespace, o.Name}), o) {
			if !slices.ContainsFunc(out, func(other event.Object) bool { return other.ID() == each.ID() }) {
				out = append(out, each)
			}
		}
	}
	return out
}

// causes returns the unready objects that k owns, directly or not. Those of the infrastructure come first: the others
// wait for them.
func (v *view) causes(k Key) []event.Object {
	var owned []Key
	for other, o := range v.objects {
		if other.Namespace != k.Namespace || v.states[other].State == health.Ready {
			continue
		}
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind == k.Kind && owner.Name == k.Name {
				owned = append(owned, other)
			}
		}
	}
	slices.SortFunc(owned, func(a, b Key) int {
		if first, second := v.infrastructure(a), v.infrastructure(b); first != second {
			if first {
				return -1
			}
			return 1
		}
		return strings.Compare(a.String(), b.String())
	})
	var list []event.Object
	for _, other := range owned {
		list = append(append(list, v.causes(other)...), v.states[other])
	}
	return list
}

func (v *view) infrastructure(k Key) bool {
	return strings.HasPrefix(v.objects[k].GetAPIVersion(), "infrastructure.")
}
