package openstack

import (
	"context"
	"fmt"
	"regexp"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
)

// Server is Nova's view of a server.
type Server struct {
	ID, Name string
	Status   string // ACTIVE, BUILD, ERROR, SHUTOFF, …
	Fault    string // why it is in the state ERROR
}

// ServersNamed returns the project's servers of a name: usually one. None is no error.
func (c *Client) ServersNamed(ctx context.Context, name string) ([]Server, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	pages, err := servers.List(c.Compute, servers.ListOpts{Name: "^" + regexp.QuoteMeta(name) + "$"}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the servers named %s: %w", name, err)
	}
	rows, err := servers.ExtractServers(pages)
	if err != nil {
		return nil, fmt.Errorf("list the servers named %s: read the answer: %w", name, err)
	}
	var found []Server
	for _, row := range rows {
		if row.Name != name {
			continue
		}
		if row, err = c.withFault(ctx, row); err != nil {
			return nil, err
		}
		found = append(found, Server{ID: row.ID, Name: row.Name, Status: row.Status, Fault: row.Fault.Message})
	}
	return found, nil
}

// withFault requests a server in ERROR separately if the list omitted its fault, as Nova does for one that no
// hypervisor accepted.
func (c *Client) withFault(ctx context.Context, s servers.Server) (servers.Server, error) {
	if s.Status != "ERROR" || s.Fault.Message != "" {
		return s, nil
	}
	whole, err := servers.Get(ctx, c.Compute, s.ID).Extract()
	if err != nil {
		return s, fmt.Errorf("read the fault of server %s: %w", s.Name, err)
	}
	return *whole, nil
}

// Console returns the last lines that a server wrote to its console.
func (c *Client) Console(ctx context.Context, s Server, lines int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	text, err := servers.ShowConsoleOutput(ctx, c.Compute, s.ID, servers.ShowConsoleOutputOpts{Length: lines}).Extract()
	if err != nil {
		return "", fmt.Errorf("read the console of server %s: %w", s.Name, err)
	}
	return text, nil
}
