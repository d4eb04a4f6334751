package openstack

import (
	"context"
	"errors"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

var _ provider.Inspector = Provider{}

// consoleLines is how much of a console is read: errors of cloud-init and kubeadm are at the end.
const consoleLines = 200

// Inspect returns the fault of the machine's server, the end of its console, and the reports of Neutron and Cinder
// about its parts. Without a server it returns the exhausted quotas.
func (p Provider) Inspect(ctx context.Context, machine string) ([]provider.Said, error) {
	client, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	servers, err := client.ServersNamed(ctx, machine)
	if err != nil {
		return nil, err
	}
	var said []provider.Said
	var unread error
	for _, server := range servers {
		if server.Fault != "" {
			said = append(said, provider.Said{From: "fault", Text: server.Fault})
		}
		console, err := client.Console(ctx, server, consoleLines)
		if unread = errors.Join(unread, err); err == nil {
			said = append(said, provider.Said{From: "console", Text: console})
		}
		ports, err := client.PortsOf(ctx, server)
		unread = errors.Join(unread, err)
		said = append(said, states(ports)...)
	}
	volumes, err := client.VolumesNamed(ctx, machine+rootVolume)
	unread = errors.Join(unread, err)
	said = append(said, states(volumes)...)
	if len(servers) > 0 {
		return said, unread
	}
	full, err := client.UsedUp(ctx)
	for _, quota := range full {
		said = append(said, provider.Said{From: "cloud", Text: "quota " + quota})
	}
	return said, errors.Join(unread, err)
}

// rootVolume is the suffix that Cluster API's provider (v0.14.7) adds to a machine's name for its boot volume.
const rootVolume = "-root"

func states(of []openstack.State) []provider.Said {
	var said []provider.Said
	for _, s := range of {
		said = append(said, provider.Said{From: "cloud", Text: s.String()})
	}
	return said
}
