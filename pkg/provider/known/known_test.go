package known_test

import (
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
)

// The subnet that is made for servers must not share addresses with pods; where no servers are made, or the network is there already, its
// default says nothing.
func TestRangesOfTheProvider(t *testing.T) {
	const pods, nodes = "cluster.pod_cidr=10.6.0.0/16", "cluster.openstack.node_cidr=10.6.0.0/24"
	cloud := []string{"cluster.openstack.image=i", "cluster.openstack.control_plane_flavor=f", "cluster.openstack.worker_flavor=f", "cluster.openstack.external_network=public"}
	cases := map[string]struct {
		name    string
		sets    []string
		refused bool
	}{
		"of servers":              {"kubeadm-capo", append(cloud, pods, nodes), true},
		"apart":                   {"kubeadm-capo", append(cloud, nodes), false},
		"a network that is there": {"kubeadm-capo", append(cloud, pods, nodes, "cluster.openstack.network=net"), false},
		"of containers":           {"kubeadm-capd", []string{pods, nodes}, false},
		"of instances of EC2":     {"kubeadm-capa", []string{pods, nodes}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: tc.name, Content: clusterinit.Content(), Sets: tc.sets, Ranges: known.Ranges, Derive: known.NoCredentials})
			overlaps := err != nil && strings.Contains(err.Error(), "overlaps cluster.openstack.node_cidr") || err != nil && strings.Contains(err.Error(), "node_cidr 10.6.0.0/24 overlaps")
			if overlaps != tc.refused {
				t.Errorf("refused: %v, want %v: %v", overlaps, tc.refused, err)
			}
		})
	}
}
