package openstack

import (
	"context"
	"errors"

	"github.com/cluster-init/cluster-init/pkg/provider"
)

var _ provider.Inspector = Provider{}

// consoleLines is how much of a console is read: cloud-init and kubeadm say their errors last.
const consoleLines = 200

// Inspect returns the fault of the machine's server, and the end of its console.
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
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		said = append(said, provider.Said{From: "console", Text: console})
	}
	return said, unread
}
