package pivot_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// Between two machines that are replaced one after the other all are ready, as TestMatrixRKE2 saw at bb0b51c: the Cluster's count of those up to date says that there is more to come.
func TestRolledOut(t *testing.T) {
	counts := func(part string, desired, ready, current, all int64) fixture.Edit {
		return fixture.Set("Cluster", "mgmt", map[string]any{"desiredReplicas": desired, "readyReplicas": ready, "upToDateReplicas": current, "replicas": all}, "status", part)
	}
	owner := func(kind, name, of string) fixture.Edit {
		return fixture.Set(kind, name, []any{map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": of, "name": "mgmt"}}, "metadata", "ownerReferences")
	}
	for name, tc := range map[string]struct {
		edits []fixture.Edit
		want  []string
	}{
		"all are as they should be":     {[]fixture.Edit{counts("controlPlane", 3, 3, 3, 3), counts("workers", 1, 1, 1, 1)}, nil},
		"it does not count":             {nil, nil},
		"old ones are left":             {[]fixture.Edit{counts("controlPlane", 3, 3, 1, 3), counts("workers", 1, 1, 1, 1)}, []string{"controlPlane: 1 of 3 machines are up to date"}},
		"one is not ready":              {[]fixture.Edit{counts("controlPlane", 3, 3, 3, 3), counts("workers", 2, 1, 2, 2)}, []string{"workers: 1 of 2 machines are ready"}},
		"the control plane is paused":   {[]fixture.Edit{counts("controlPlane", 3, 3, 1, 3), fixture.Set("KubeadmControlPlane", "mgmt-cp", "true", "metadata", "annotations", "cluster.x-k8s.io/paused")}, nil},
		"workers that somebody deletes": {[]fixture.Edit{counts("workers", 1, 1, 0, 1), fixture.Set("MachineDeployment", "mgmt-md", "OnDelete", "spec", "rollout", "strategy", "type")}, nil},
		"workers that nobody has":       {[]fixture.Edit{counts("workers", 1, 1, 0, 1), owner("Machine", "mgmt-md-1-b", "Cluster")}, nil},
		"it does not say how many":      {[]fixture.Edit{fixture.Set("Cluster", "mgmt", map[string]any{"replicas": int64(3)}, "status", "controlPlane")}, nil},
		"a control plane that says so":  {[]fixture.Edit{counts("controlPlane", 3, 3, 3, 3), condition("KubeadmControlPlane", "mgmt-cp", "MachinesSpecUpToDate", "False", "Rolling 2 replicas")}, []string{"Rolling 2 replicas"}},
		"one is too many":               {[]fixture.Edit{counts("controlPlane", 1, 1, 1, 2), counts("workers", 1, 1, 0, 1)}, []string{"controlPlane: there are 2 machines, and 1 are wanted", "workers: 0 of 1 machines are up to date"}},
	} {
		t.Run(name, func(t *testing.T) {
			unmet, err := pivot.RolledOut(t.Context(), selfManagedClient(t, fixture.ManagementCluster(), tc.edits...), pivot.Scope{Namespace: fixture.Namespace, Cluster: "mgmt"})
			if err != nil || len(unmet) != len(tc.want) {
				t.Fatalf("%v, %v, want %q", unmet, err, tc.want)
			}
			for i, u := range unmet {
				if !strings.Contains(u.String(), tc.want[i]) || !u.Waiting {
					t.Errorf("%v, want %q", u, tc.want[i])
				}
			}
		})
	}
}
