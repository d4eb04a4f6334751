// Package diagnose finds out why a management cluster does not get ready. It reads both clusters and the machines,
// follows each object that is not ready down to what it waits for, and matches the objects at the bottom against rules.
// It changes nothing.
package diagnose

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// Snapshot holds what was read from one cluster, by object.
type Snapshot struct {
	cluster string
	kinds   map[schema.GroupKind]bool
	objects map[health.Ref]*unstructured.Unstructured
	below   map[health.Ref][]health.Ref // the objects that an object owns or has applied, or that create it
	events  map[health.Ref][]Signal     // the newest first
	logs    map[health.Ref][]string     // the last lines of the containers of a Pod that ended
	// machineSignals are what machines report, and the cloud and controllers report about them.
	machineSignals map[health.Ref][]Signal
	// installed are the namespaces of workloads that cluster-init installs or depends on.
	installed map[string]bool
}

// NewSnapshot returns the snapshot of an observation.
func NewSnapshot(o readiness.Observation) *Snapshot {
	s := &Snapshot{cluster: o.Cluster, kinds: map[schema.GroupKind]bool{},
		objects: map[health.Ref]*unstructured.Unstructured{},
		below:   map[health.Ref][]health.Ref{}, events: map[health.Ref][]Signal{}, logs: map[health.Ref][]string{},
		machineSignals: map[health.Ref][]Signal{}, installed: readiness.Installed(o)}
	for _, kind := range o.Kinds {
		s.kinds[kind] = true
	}
	for _, u := range o.Objects {
		s.objects[health.RefOf(u)] = u
	}
	for _, u := range o.Objects {
		for _, parent := range parents(u) {
			s.below[parent] = append(s.below[parent], health.RefOf(u))
		}
	}
	for _, list := range s.below {
		slices.SortFunc(list, func(a, b health.Ref) int {
			return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Group, b.Group))
		})
	}
	s.sortEvents(o.Events)
	return s
}

// parents returns the objects that wait for u: its owners, the Flux object that applied it, and the objects that a
// controller creates for u.
func parents(u *unstructured.Unstructured) []health.Ref {
	list := createdFor(u)
	for _, owner := range u.GetOwnerReferences() {
		version, err := schema.ParseGroupVersion(owner.APIVersion)
		if err != nil {
			continue
		}
		list = append(list, health.Ref{Group: version.Group, Kind: owner.Kind, Namespace: u.GetNamespace(),
			Name: owner.Name})
	}
	for group, kind := range map[string]string{"kustomize.toolkit.fluxcd.io": "Kustomization",
		"helm.toolkit.fluxcd.io": "HelmRelease"} {
		if name := u.GetLabels()[group+"/name"]; name != "" {
			list = append(list, health.Ref{Group: group, Kind: kind, Namespace: u.GetLabels()[group+"/namespace"],
				Name: name})
		}
	}
	return list
}

// absent reports whether an object is known not to exist.
func (s *Snapshot) absent(r health.Ref) bool {
	return s.objects[r] == nil && s.kinds[schema.GroupKind{Group: r.Group, Kind: r.Kind}]
}

// state returns the state of an object. It is Missing if the snapshot does not contain the object.
func (s *Snapshot) state(r health.Ref) health.State {
	if u := s.objects[r]; u != nil {
		return health.OfAny(u)
	}
	return health.State{Status: Missing, Message: "does not exist"}
}

// Missing is the state of an object that another object needs and that does not exist.
const Missing = "Missing"

func (s *Snapshot) sortEvents(events []*unstructured.Unstructured) {
	slices.SortStableFunc(events, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(lastSeen(b), lastSeen(a))
	})
	for _, e := range events {
		text := func(path ...string) string { t, _, _ := unstructured.NestedString(e.Object, path...); return t }
		version, err := schema.ParseGroupVersion(text("involvedObject", "apiVersion"))
		if err != nil {
			continue
		}
		about := health.Ref{Group: version.Group, Kind: text("involvedObject", "kind"),
			Namespace: text("involvedObject", "namespace"), Name: text("involvedObject", "name")}
		s.events[about] = append(s.events[about], Signal{Origin: originEvent, Reason: text("reason"),
			Message: text("message")})
	}
}

// lastSeen returns the time of an event's last report, as text that sorts by time.
func lastSeen(e *unstructured.Unstructured) string {
	for _, path := range [][]string{{"series", "lastObservedTime"}, {"lastTimestamp"}, {"eventTime"},
		{"metadata", "creationTimestamp"}} {
		if text, _, _ := unstructured.NestedString(e.Object, path...); text != "" {
			return text
		}
	}
	return ""
}
