package selfmanaged_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
)

// Between two rolling replacements all machines are ready: the count of those up to date shows that more will follow.
func TestRolledOut(t *testing.T) {
	plane := func(desired, ready, current, all int64) fixture.Edit {
		return fixture.Set("Cluster", "mgmt", map[string]any{"desiredReplicas": desired, "readyReplicas": ready,
			"upToDateReplicas": current, "replicas": all}, "status", "controlPlane")
	}
	counts := func(kind, name string, desired, ready, current, all int64) fixture.Edit {
		return func(u *unstructured.Unstructured) {
			fixture.Set(kind, name, desired, "spec", "replicas")(u)
			fixture.Set(kind, name, map[string]any{"readyReplicas": ready, "upToDateReplicas": current,
				"replicas": all}, "status")(u)
		}
	}
	pool := func(desired, ready, current, all int64) fixture.Edit {
		return counts("MachineDeployment", "mgmt-md", desired, ready, current, all)
	}
	paused := func(kind, name string) fixture.Edit {
		return fixture.Set(kind, name, "true", "metadata", "annotations", "cluster.x-k8s.io/paused")
	}
	ownedByCluster := func(kind, name string) fixture.Edit {
		return fixture.Set(kind, name, []any{map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
			"name": "mgmt"}}, "metadata", "ownerReferences")
	}
	otherVersion := func(machine string) fixture.Edit {
		return fixture.Set("Machine", machine,
			[]any{map[string]any{"type": "UpToDate", "status": "False", "reason": "Updating",
				"message": "* Node.status.nodeInfo.kubeletVersion v1.36.3, v1.36.4 required"}}, "status", "conditions")
	}
	onDelete := fixture.Set("MachineDeployment", "mgmt-md", "OnDelete", "spec", "rollout", "strategy", "type")
	well, all := plane(3, 3, 3, 3), pool(1, 1, 1, 1)
	for name, tc := range map[string]struct {
		edits []fixture.Edit
		want  []string
	}{
		"all are as they should be": {[]fixture.Edit{well, all}, nil},
		"the control plane has no counts": {[]fixture.Edit{all,
			fixture.Set("Cluster", "mgmt", map[string]any{"replicas": int64(3)}, "status", "controlPlane")}, nil},
		"workers without counts": {[]fixture.Edit{well}, []string{"workers: 0 of 1 machines are ready"}},
		"old ones are left": {[]fixture.Edit{plane(3, 3, 1, 3), all},
			[]string{"controlPlane: 1 of 3 machines are up to date"}},
		"one says why it is old": {[]fixture.Edit{well, pool(1, 1, 0, 1),
			condition("Machine", "mgmt-md-1-b", "UpToDate", "False", "* Version v1.36.3,\n  v1.36.4 required")},
			[]string{"workers: 0 of 1 machines are up to date (mgmt-md-1-b: * Version v1.36.3, v1.36.4 required)"}},
		"its node has another version": {[]fixture.Edit{well, pool(1, 1, 0, 1), otherVersion("mgmt-md-1-b")},
			nil},
		"so has a control plane's": {[]fixture.Edit{plane(1, 1, 0, 1), all, otherVersion("mgmt-cp-a")},
			nil},
		"one is not ready": {[]fixture.Edit{well, pool(2, 1, 2, 2)},
			[]string{"workers: 1 of 2 machines are ready"}},
		"one is too many": {[]fixture.Edit{plane(1, 1, 1, 2), pool(1, 1, 0, 1)},
			[]string{"controlPlane: 2 machines exist, 1 are desired",
				"workers: 0 of 1 machines are up to date"}},
		"a control plane that says so": {[]fixture.Edit{well, all, condition("KubeadmControlPlane", "mgmt-cp",
			"MachinesSpecUpToDate", "False", "Rolling 2 replicas")}, []string{"Rolling 2 replicas"}},
		"a control plane that does not say why": {[]fixture.Edit{well, all, condition("KubeadmControlPlane", "mgmt-cp",
			"MachinesSpecUpToDate", "False", "")}, []string{"MachinesSpecUpToDate=False"}},
		"the control plane is paused": {[]fixture.Edit{plane(3, 3, 1, 3), all,
			paused("KubeadmControlPlane", "mgmt-cp")}, nil},
		"one of its machines is paused": {[]fixture.Edit{plane(3, 3, 2, 3), all,
			paused("Machine", "mgmt-cp-a")}, nil},
		"the workers are paused": {[]fixture.Edit{well, pool(1, 1, 0, 2),
			paused("MachineDeployment", "mgmt-md")}, nil},
		"their MachineSet is paused": {[]fixture.Edit{well, pool(1, 1, 1, 2),
			paused("MachineSet", "mgmt-md-1")}, nil},
		"one of them is paused": {[]fixture.Edit{well, pool(1, 1, 0, 1),
			paused("Machine", "mgmt-md-1-b")}, nil},
		"somebody deletes those that are old": {[]fixture.Edit{well, pool(1, 1, 0, 1), onDelete}, nil},
		"they are recreated all the same": {[]fixture.Edit{well, pool(2, 1, 0, 1), onDelete},
			[]string{"workers: 1 of 2 machines are ready"}},
		"workers of nobody": {[]fixture.Edit{well, all, ownedByCluster("Machine", "mgmt-md-1-b")},
			nil},
		"a MachineSet alone replaces none": {[]fixture.Edit{well, all, ownedByCluster("MachineSet", "mgmt-md-1"),
			counts("MachineSet", "mgmt-md-1", 1, 1, 0, 1)}, nil},
		"it makes those that are missing": {[]fixture.Edit{well, all, ownedByCluster("MachineSet", "mgmt-md-1"),
			counts("MachineSet", "mgmt-md-1", 2, 1, 1, 1)}, []string{"workers: 1 of 2 machines are ready"}},
		"another pool waits for nobody": {[]fixture.Edit{well, pool(1, 1, 0, 1), onDelete,
			counts("MachineDeployment", "other", 1, 1, 0, 2)}, []string{"workers: 0 of 1 machines are up to date"}},
		"the Cluster is not there any more": {[]fixture.Edit{fixture.Set("Cluster", "mgmt", "elsewhere", "metadata",
			"name")}, []string{"is not in its own API"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := fixture.ManagementCluster()
			if name == "another pool waits for nobody" {
				other := objects[6].DeepCopy()
				other.SetName("other")
				objects = append(objects, other)
			}
			unmet, err := selfmanaged.RolledOut(t.Context(), selfManagedClient(t, objects, tc.edits...),
				clusters.Scope{Namespace: fixture.Namespace, Cluster: "mgmt"})
			if err != nil || len(unmet) != len(tc.want) {
				t.Fatalf("%v, %v, want %q", unmet, err, tc.want)
			}
			for i, u := range unmet {
				if !strings.Contains(u.String(), tc.want[i]) {
					t.Errorf("%v, want %q", u, tc.want[i])
				}
			}
		})
	}
}
