package rollout

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A Machine can have the address from the time that it is a Node until the request to delete it. Those of another
// Cluster, and other objects, do not count. That none was seen is not that none has joined.
func TestMachinesThatHaveJoined(t *testing.T) {
	object := func(kind, cluster, name, node string, deleting bool) kube.Change {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": kind,
			"status": map[string]any{"nodeRef": map[string]any{"name": node}}}}
		u.SetNamespace("ns")
		u.SetName(name)
		u.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": cluster})
		if deleting {
			u.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
		}
		return kube.Change{Object: u}
	}
	j := &joined{of: Key{Namespace: "ns", Name: "demo"}}
	for _, c := range []kube.Change{object("Machine", "other", "a", "n", false),
		object("OpenStackMachine", "demo", "b", "n", false), {}} {
		j.see(c)
	}
	if got := j.names(); got != nil {
		t.Errorf("%v have joined, and none was seen", got)
	}
	for _, c := range []kube.Change{object("Machine", "demo", "c", "n", false), object("Machine", "demo", "d", "", false),
		object("Machine", "demo", "e", "n", true)} {
		j.see(c)
	}
	if got := j.names(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("%v have joined", got)
	}
	gone := object("Machine", "demo", "c", "n", false)
	gone.Deleted = true
	j.see(gone)
	if got := j.names(); got == nil || len(got) > 0 {
		t.Errorf("%v have joined after the only one is gone", got)
	}
	if got := (*joined)(nil).names(); got != nil {
		t.Errorf("%v have joined, without an observation", got)
	}
}
