package rollout

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A Machine leaves from the request to delete it until it is gone. Those of another Cluster, and other objects, do not
// count.
func TestMachinesThatLeave(t *testing.T) {
	object := func(kind, cluster, name string, deleting bool) kube.Change {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
		u.SetNamespace("ns")
		u.SetName(name)
		u.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": cluster})
		if deleting {
			u.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
		}
		return kube.Change{Object: u}
	}
	l := &leaving{of: Key{Namespace: "ns", Name: "demo"}}
	for _, c := range []kube.Change{object("Machine", "demo", "a", false), object("Machine", "demo", "b", true),
		object("Machine", "other", "c", true), object("OpenStackMachine", "demo", "d", true), {}} {
		l.see(c)
	}
	if got := l.names(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v leave", got)
	}
	gone := object("Machine", "demo", "b", true)
	gone.Deleted = true
	l.see(gone)
	if got := l.names(); len(got) > 0 {
		t.Errorf("%v leave after all are gone", got)
	}
	if got := (*leaving)(nil).names(); len(got) > 0 {
		t.Errorf("%v leave, without an observation", got)
	}
}
