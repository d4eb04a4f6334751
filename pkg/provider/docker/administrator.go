package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	engine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

var _ provider.AdministratorReader = Provider{}

const (
	controlPlaneRole = "control-plane"
	// administratorBytes is far more than the size of a kubeconfig with two certificates.
	administratorBytes = 256 << 10
	// readAdministrator reads the kubeconfig of kubeadm, or else of RKE2.
	readAdministrator = "for f in /etc/kubernetes/admin.conf /etc/rancher/rke2/rke2.yaml; do if test -e $f; then exec " +
		"cat $f; fi; done; echo no kubeconfig >&2; exit 1"
)

// Administrators reads the kubeconfigs in the containers of the cluster's control plane. A container without our marker
// is fault.ClusterForeign.
func (p Provider) Administrators(ctx context.Context) ([]provider.Administrator, error) {
	names, err := p.Engine.Containers(ctx, engine.Filter{Labels: []string{kind.ClusterLabel + "=" + p.Cluster}})
	if err != nil {
		return nil, err
	}
	var balancer string
	var machines []engine.Container
	var unread error
	for _, name := range names {
		c, err := p.Engine.Inspect(ctx, name)
		c.Name = name
		switch role := c.Labels[kind.RoleLabel]; {
		case errors.Is(err, engine.ErrNotFound): // it was deleted in the meantime
		case err != nil:
			unread = errors.Join(unread, fmt.Errorf("inspect machine %s: %w", name, err))
		case role == kind.LoadBalancerRole:
			balancer = addressOf(c)
		case role != controlPlaneRole:
		case !c.HasMount(owned.Marker(p.Cluster)):
			return nil, fault.New(fault.ClusterForeign,
				fmt.Sprintf("container %s is a node of a cluster %s that cluster-init did not make", name, p.Cluster),
				"Set the kubeconfig of the management cluster with --kubeconfig FILE. That of this container is not read.")
		case !c.Running || c.Status == "paused":
			unread = errors.Join(unread, fmt.Errorf("machine %s is not running", name))
		default:
			machines = append(machines, c)
		}
	}
	slices.SortStableFunc(machines, func(a, b engine.Container) int { return a.Created.Compare(b.Created) })
	var found []provider.Administrator
	for _, m := range machines {
		text, err := p.Engine.Output(ctx, m.Name, []string{"sh", "-c", readAdministrator}, administratorBytes)
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("read the administrator's kubeconfig: %w", err))
			continue
		}
		address := balancer
		if address == "" {
			address = addressOf(m)
		}
		found = append(found, provider.Administrator{Machine: m.Name, Kubeconfig: []byte(text), Address: address})
	}
	return found, unread
}

// addressOf returns a container's address in the first of its networks that has one.
func addressOf(c engine.Container) string {
	for _, name := range slices.Sorted(maps.Keys(c.Networks)) {
		if n := c.Networks[name]; n.IPv4 != "" {
			return n.IPv4
		} else if n.IPv6 != "" {
			return n.IPv6
		}
	}
	return ""
}
