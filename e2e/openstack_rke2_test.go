//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// TestMatrixRKE2OpenStack builds a management cluster of a server and an agent of RKE2, for which a stand-in stands in,
// on servers of a real OpenStack, has it grow by two servers, which find the first one at its own address, and deletes
// all of it.
func TestMatrixRKE2OpenStack(t *testing.T) {
	l, project := openStackLab(t, "rke2-capo", resource.StandinImage)
	before := project.inventory(t)
	management, r := l.upOnOpenStack(t, project)
	t.Run("servers became nodes of RKE2",
		func(t *testing.T) { management.hasRKE2Nodes(t, project.names(t, openstack.KindServer), 1) })
	t.Run("a commit makes two more", func(t *testing.T) {
		first := project.names(t, openstack.KindServer)
		r.replace(t, "kustomize-components/cluster/"+l.name+"/control-plane.yaml", "${CONTROL_PLANE_REPLICAS:=1}", "3")
		r.push(t, "more servers")
		management.lookAtSource(t)
		eventually(t, "four nodes are ready", 8*time.Minute,
			func(ctx context.Context) bool { return management.readyNodes(ctx) == 4 })
		now := project.names(t, openstack.KindServer)
		management.hasRKE2Nodes(t, now, 3)
		for _, server := range first {
			if !slices.Contains(now, server) {
				t.Errorf("server %s was replaced", server)
			}
		}
		management.managesItself(t)
	})
	t.Run("cleanup shows and deletes", func(t *testing.T) { l.cleanupOpenStack(t, project, before) })
}

// hasRKE2Nodes fails the test unless the nodes are those of the servers, so many of them of the control plane, by RKE2,
// and the cloud controller manager knows their servers.
func (c cluster) hasRKE2Nodes(t *testing.T, servers []string, controlPlanes int) {
	t.Helper()
	var nodes corev1.NodeList
	if err := c.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	var names, controlPlane []string
	for _, node := range nodes.Items {
		names = append(names, node.Name)
		if node.Labels["node-role.kubernetes.io/control-plane"] == "true" {
			controlPlane = append(controlPlane, node.Name)
		}
		if version := node.Status.NodeInfo.KubeletVersion; !strings.Contains(version, "+rke2r") {
			t.Errorf("node %s is of version %s", node.Name, version)
		}
		if !strings.HasPrefix(node.Spec.ProviderID, "openstack:///") {
			t.Errorf("node %s has the identifier %q", node.Name, node.Spec.ProviderID)
		}
		// From the cloud: the image says nothing of it.
		if flavor := node.Labels[corev1.LabelInstanceTypeStable]; !strings.HasPrefix(flavor, "m1.") {
			t.Errorf("node %s is of the flavor %q", node.Name, flavor)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, servers) || len(controlPlane) != controlPlanes {
		t.Errorf("the nodes are %v, of the control plane %v, for the servers %v", names, controlPlane, servers)
	}
}
