//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// TestMatrixRKE2OpenStack builds a management cluster of a server and an agent of RKE2, for which a stand-in stands in, on
// servers of a real OpenStack, and deletes all of it.
func TestMatrixRKE2OpenStack(t *testing.T) {
	l, project := openStackLab(t, "rke2-capo", resource.StandinImage)
	before := project.inventory(t)
	management, _ := l.upOnOpenStack(t, project)
	t.Run("servers became nodes of RKE2", func(t *testing.T) { management.hasRKE2Nodes(t, project.names(t, openstack.KindServer)) })
	t.Run("cleanup shows and deletes", func(t *testing.T) { l.cleanupOpenStack(t, project, before) })
}

// hasRKE2Nodes fails the test unless the nodes are those of the servers, one of them of the control plane, by RKE2, and the
// cloud controller manager knows their servers.
func (c cluster) hasRKE2Nodes(t *testing.T, servers []string) {
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
	if !slices.Equal(names, servers) || len(controlPlane) != 1 {
		t.Errorf("the nodes are %v, of the control plane %v, for the servers %v", names, controlPlane, servers)
	}
}
