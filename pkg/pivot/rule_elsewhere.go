package pivot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// usedClass is a ClusterClass that would leave, with the Clusters of other namespaces that use it.
type usedClass struct {
	class capi.Object
	users []capi.Cluster
}

// usedElsewhere returns the ClusterClasses that Clusters of other namespaces use, sorted. clusterctl copies such a
// class, pauses it and leaves it in its place: from then on there are two.
func (v *view) usedElsewhere() []usedClass {
	var all []usedClass
	for _, o := range v.source.All() {
		if o.Kind != "ClusterClass" || o.Namespace != v.scope.Namespace {
			continue
		}
		used := usedClass{class: o}
		for _, c := range v.others {
			if c.ClassNamespace == o.Namespace && c.ClassName == o.Name {
				used.users = append(used.users, c)
			}
		}
		if len(used.users) > 0 {
			all = append(all, used)
		}
	}
	return all
}

// copyClass returns what a person does with a class that other Clusters use.
func copyClass(users []capi.Cluster) string {
	return "Make a copy of the class and its templates in namespace " + users[0].Namespace + ", and rebase " +
		users[0].String() + " to it."
}

func checkElsewhere(_ context.Context, v *view) ([]*Refusal, error) {
	if v.othersErr != nil {
		return []*Refusal{{
			Rule: RuleElsewhere, Reason: fmt.Sprintf(
				"it is not known whether objects of other namespaces use what would leave: %v", v.othersErr),
			Remedy: "Give the user of the source's kubeconfig the permission to list Cluster API's kinds, " +
				"clusters.cluster.x-k8s.io before all, in all namespaces: clusterctl needs that one too.",
		}}, nil
	}
	var refusals []*Refusal
	for _, used := range v.usedElsewhere() {
		var names []string
		for _, c := range used.users {
			names = append(names, c.String())
		}
		slices.Sort(names)
		refusals = append(refusals, &Refusal{
			Rule: RuleElsewhere, Object: used.class.String(), Remedy: copyClass(used.users),
			Reason: "is used from another namespace, by " + strings.Join(names, ", ") +
				": it would be copied, and stay at the source, paused",
		})
	}
	return append(refusals, v.namedElsewhere()...), nil
}

// namedElsewhere refuses objects that would leave while objects in another namespace, which stay, name them. Classes of
// Clusters have a refusal of their own.
func (v *view) namedElsewhere() []*Refusal {
	moves := map[capi.Key]capi.Object{}
	for _, o := range v.moves {
		moves[o.Key()] = o
	}
	var refusals []*Refusal
	for _, m := range v.fromElsewhere {
		o, leaves := moves[m.To]
		if !leaves {
			continue
		}
		refusals = append(refusals, &Refusal{Rule: RuleElsewhere, Object: o.String(),
			Reason: fmt.Sprintf("is named by %s, which is in another namespace and stays", m.From),
			Remedy: "Have that name a copy of its own: " + v.onObject("edit", m.From),
		})
	}
	return refusals
}
