package rollout

import (
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// blocksGoal reports whether the wait depends on an object: a goal, or what belongs to the release in a goal's
// namespace, except for Kustomizations. Other objects may be suspended or broken, and no wait is for them.
func (v *view) blocksGoal(k Key) bool {
	if slices.Contains(v.goal.Ready, k) {
		return true
	}
	inNamespace := slices.ContainsFunc(v.goal.Ready, func(g Key) bool { return g.Namespace == k.Namespace })
	return inNamespace && k.Kind != "Kustomization" && v.ofRelease(v.objects[k])
}

// excluded reports whether an object is a component that the release made. Of those that are no goal, a phase waits for
// what they make, such as the Cluster. Before the HelmRelease is ready the answer is false: the release may be about to
// change the component.
func (v *view) excluded(k Key) bool {
	o := v.objects[k]
	return v.goal.Made == nil && k.Kind == kustomizev1.KustomizationKind && o != nil && Made(v.release(), o)
}

// ofRelease reports whether an object is part of the release: named as its own source and chart are, or made by it. All
// objects of other kinds than Flux's count too.
func (v *view) ofRelease(o *unstructured.Unstructured) bool {
	if o == nil {
		return false
	}
	if v.goal.Owns != nil { // another workload cluster may be in the same namespace
		return v.goal.Owns(o)
	}
	switch o.GetName() {
	case flux.ReleaseName, flux.ChartSourceName, flux.Namespace + "-" + flux.ReleaseName: // the last is a HelmChart's
		if o.GetNamespace() == flux.Namespace { // elsewhere it is a user's own
			return true
		}
	}
	return Made(ownRelease(), o) || !isFlux(o)
}

func isFlux(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(o.GroupVersionKind().Group, ".toolkit.fluxcd.io")
}

// noteUnmanaged returns a note that a resource of the user's own is unhealthy, once for each. It is empty if there is
// nothing to say.
func (v *view) noteUnmanaged(o event.Object) string {
	k := Key{o.Kind, o.Namespace, o.Name}
	object := v.objects[k]
	if object == nil || !isFlux(object) || v.blocksGoal(k) || v.ofRelease(object) || v.remarked[k] ||
		o.State != health.Suspended && o.State != health.Failed {
		return ""
	}
	v.remarked[k] = true
	text := fmt.Sprintf("%s %s/%s in the %s cluster is not managed by cluster-init and is %s", k.Kind, k.Namespace,
		k.Name, v.cluster, strings.ToLower(string(o.State)))
	if o.Message != "" && o.State == health.Failed {
		text += ": " + o.Message
	}
	return text + "; this run does not wait for it"
}
