package readiness

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
)

const (
	systemNamespace = "kube-system"
	// providerLabel is the label that Cluster API's providers put on everything that they install.
	providerLabel = "cluster.x-k8s.io/provider"
)

// view is an observation, indexed for the judges.
type view struct {
	Observation
	now       time.Time // the API server's clock, or this machine's if that is not known
	kinds     map[schema.GroupKind]bool
	objects   map[health.Ref]*unstructured.Unstructured
	byKind    map[schema.GroupKind][]*unstructured.Unstructured
	writes    map[health.Ref]Write
	installed map[string]bool // namespaces of the components and of their dependencies
}

func newView(o Observation) *view {
	v := &view{Observation: o, now: o.At, kinds: map[schema.GroupKind]bool{},
		objects: map[health.Ref]*unstructured.Unstructured{},
		byKind:  map[schema.GroupKind][]*unstructured.Unstructured{}, writes: map[health.Ref]Write{}}
	if v.now.IsZero() {
		v.now = o.Local
	}
	for _, kind := range o.Kinds {
		v.kinds[kind] = true
	}
	for _, u := range o.Objects {
		r := health.RefOf(u)
		v.objects[r] = u
		kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
		v.byKind[kind] = append(v.byKind[kind], u)
	}
	for _, list := range v.byKind {
		slices.SortFunc(list, func(a, b *unstructured.Unstructured) int {
			return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
		})
	}
	for _, w := range o.Writes {
		v.writes[w.Object] = w
	}
	v.installed = Installed(o)
	return v
}

// Installed are the namespaces of the components and of their dependencies: those of Kubernetes and of Flux, and those
// with a workload that Flux applied or that is part of a provider.
func Installed(o Observation) map[string]bool {
	namespaces := map[string]bool{systemNamespace: true, flux.Namespace: true}
	for _, u := range o.Objects {
		if !isWorkload(u) {
			continue
		}
		labels := u.GetLabels()
		for _, key := range []string{"kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name", providerLabel} {
			if labels[key] != "" {
				namespaces[u.GetNamespace()] = true
			}
		}
	}
	return namespaces
}

func isWorkload(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().Group == "apps" && u.GetKind() != "ReplicaSet" && u.GetKind() != "ControllerRevision"
}

// list returns the objects of a kind, by namespace and name.
func (v *view) list(group, kind string) []*unstructured.Unstructured {
	return v.byKind[schema.GroupKind{Group: group, Kind: kind}]
}

// listed reports whether all objects of a kind are known.
func (v *view) listed(group, kind string) bool {
	return v.kinds[schema.GroupKind{Group: group, Kind: kind}]
}

// absent reports that an object is known not to exist.
func (v *view) absent(r health.Ref) bool { return v.objects[r] == nil && v.listed(r.Group, r.Kind) }

// probes returns the results of one kind of check.
func (v *view) probes(kind string) []Probe {
	return slices.DeleteFunc(slices.Clone(v.Probes), func(p Probe) bool { return p.Kind != kind })
}

// age returns how long ago a time was, or zero if it is not known or in the future.
func (v *view) age(t time.Time) time.Duration {
	if t.IsZero() || v.now.IsZero() {
		return 0
	}
	return max(0, v.now.Sub(t))
}

// workloads are the Deployments, DaemonSets and StatefulSets of installed components.
func (v *view) workloads() []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, kind := range []string{"Deployment", "DaemonSet", "StatefulSet"} {
		for _, u := range v.list("apps", kind) {
			if v.installed[u.GetNamespace()] {
				found = append(found, u)
			}
		}
	}
	return found
}

// warning returns the newest warning event of the last minutes about an object, or about what was made from it.
func (v *view) warning(r health.Ref) string {
	var newest time.Time
	message := ""
	for _, e := range v.Events {
		about := health.Ref{Kind: text(e, "involvedObject", "kind"), Namespace: text(e, "involvedObject", "namespace"),
			Name: text(e, "involvedObject", "name")}
		isIt := about.Kind == r.Kind && about.Name == r.Name || strings.HasPrefix(about.Name, r.Name+"-") &&
			slices.Contains([]string{"ReplicaSet", "Pod"}, about.Kind)
		at := eventTime(e)
		if about.Namespace != r.Namespace || !isIt || at.Before(newest) || v.age(at) > recent {
			continue
		}
		newest, message = at, strings.TrimSpace(text(e, "reason")+": "+text(e, "message"))
	}
	return message
}

// recent is the maximum age of an event that is shown with a finding.
const recent = 15 * time.Minute

func eventTime(e *unstructured.Unstructured) time.Time {
	for _, path := range [][]string{{"series", "lastObservedTime"}, {"lastTimestamp"}, {"eventTime"},
		{"metadata", "creationTimestamp"}} {
		if at := moment(text(e, path...)); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

func text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}

func number(u *unstructured.Unstructured, otherwise int64, path ...string) int64 {
	n, found, err := unstructured.NestedFieldNoCopy(u.Object, path...)
	if !found || err != nil {
		return otherwise
	}
	switch n := n.(type) {
	case int64:
		return n
	case float64: // from a file
		return int64(n)
	}
	return otherwise
}

func moment(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// maps returns the entries of a list of objects.
func maps(u *unstructured.Unstructured, path ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, path...)
	return mapsOf(list)
}

func mapsOf(list []any) []map[string]any {
	var found []map[string]any
	for _, each := range list {
		if m, isMap := each.(map[string]any); isMap {
			found = append(found, m)
		}
	}
	return found
}

// since returns when a condition last changed.
func since(u *unstructured.Unstructured, conditionType string) time.Time {
	for _, c := range maps(u, "status", "conditions") {
		if c["type"] == conditionType {
			at, _ := c["lastTransitionTime"].(string)
			return moment(at)
		}
	}
	return time.Time{}
}
