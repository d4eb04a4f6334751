package readiness

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// withControlPlanes is the healthy cluster with more control-plane nodes, which are as the first one is.
func withControlPlanes(t *testing.T, more ...string) Observation {
	t.Helper()
	o := healthy(t)
	for _, count := range []string{"desired", "current"} {
		set(t, o.find(t, "DaemonSet/kube-system/kube-proxy"), int64(1+len(more)), "status", count+"NumberScheduled")
	}
	for _, count := range []string{"numberReady", "numberAvailable", "updatedNumberScheduled"} {
		set(t, o.find(t, "DaemonSet/kube-system/kube-proxy"), int64(1+len(more)), "status", count)
	}
	for _, name := range more {
		clone := func(object, name string) *unstructured.Unstructured {
			u := o.find(t, object).DeepCopy()
			u.SetName(name)
			o.Objects = append(o.Objects, u)
			return u
		}
		clone("Node/cp", name)
		clone("Lease/kube-node-lease/cp", name)
		for _, part := range staticPods {
			set(t, clone("Pod/kube-system/"+part+"-cp", part+"-"+name), name, "spec", "nodeName")
		}
	}
	return o
}

// What one of several control-plane nodes lacks makes the cluster degraded, not dead: a warning. With too few left,
// it blocks.
func TestOneOfSeveralControlPlaneNodes(t *testing.T) {
	down := []any{map[string]any{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T11:50:00Z"}}
	without := func(names ...string) func(*Observation) {
		return func(o *Observation) {
			for _, name := range names {
				o.drop(t, "Pod/kube-system/"+name)
			}
		}
	}
	silent := func(names ...string) func(*Observation) {
		return func(o *Observation) {
			for _, name := range names {
				set(t, o.find(t, "Lease/kube-node-lease/"+name), "2026-01-01T11:58:00.000000Z", "spec", "renewTime")
			}
		}
	}
	three, two := []string{"cp2", "cp3"}, []string{"cp2"}
	for name, tc := range map[string]struct {
		more []string
		edit func(*Observation)
		want string // "severity ID Object", one line each
	}{
		"nothing is wrong": {three, func(*Observation) {}, ""},
		"a scheduler of three": {three, without("kube-scheduler-cp2"),
			"warning control-plane-part-missing Pod/kube-system/kube-scheduler-cp2"},
		"an API server of three": {three, without("kube-apiserver-cp2"),
			"warning control-plane-part-missing Pod/kube-system/kube-apiserver-cp2"},
		"a controller manager of three crashes": {three, func(o *Observation) {
			set(t, o.find(t, "Pod/kube-system/kube-controller-manager-cp2"), down, "status", "conditions")
		}, "warning control-plane-part-down Pod/kube-system/kube-controller-manager-cp2"},
		"two schedulers of three": {three, without("kube-scheduler-cp2", "kube-scheduler-cp3"),
			"warning control-plane-part-missing Pod/kube-system/kube-scheduler-cp2\n" +
				"warning control-plane-part-missing Pod/kube-system/kube-scheduler-cp3"},
		"every scheduler": {two, without("kube-scheduler-cp", "kube-scheduler-cp2"),
			"blocking control-plane-part-missing Pod/kube-system/kube-scheduler-cp\n" +
				"blocking control-plane-part-missing Pod/kube-system/kube-scheduler-cp2"},
		"a member of etcd of three": {three, without("etcd-cp2"),
			"warning control-plane-part-missing Pod/kube-system/etcd-cp2"},
		"a member of etcd of two": {two, without("etcd-cp2"),
			"blocking control-plane-part-missing Pod/kube-system/etcd-cp2"},
		"a kubelet of three": {three, silent("cp2"), "warning kubelet-silent Node/cp2"},
		"a kubelet of three, whose Pods Kubernetes has set to not ready": {three, func(o *Observation) {
			silent("cp2")(o)
			for _, part := range staticPods {
				set(t, o.find(t, "Pod/kube-system/"+part+"-cp2"), down, "status", "conditions")
			}
		}, "warning kubelet-silent Node/cp2"},
		"two kubelets of three": {three, silent("cp2", "cp3"),
			"blocking kubelet-silent Node/cp2\nblocking kubelet-silent Node/cp3"},
		"a scheduler whose only stand-in is on a silent node": {two, func(o *Observation) {
			without("kube-scheduler-cp")(o)
			silent("cp2")(o)
		}, "blocking control-plane-part-missing Pod/kube-system/kube-scheduler-cp\nblocking kubelet-silent Node/cp2"},
	} {
		t.Run(name, func(t *testing.T) {
			o := withControlPlanes(t, tc.more...)
			tc.edit(&o)
			var got []string
			for _, f := range Judge(o) {
				got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.ID, f.Object))
			}
			if text := strings.Join(got, "\n"); text != tc.want {
				t.Errorf("found\n%s\nwant\n%s", text, tc.want)
			}
		})
	}
}
