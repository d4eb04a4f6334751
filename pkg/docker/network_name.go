package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// attempts bounds how often a network may come into use right while it is being removed.
const attempts = 3

// oneNetwork reports whether there is a network of that name, and removes all of them but one. The one that containers
// are in stays; where no container is in any, the one that kind would keep stays, which is the first by ID, so that
// runs beside each other agree.
func (c *Client) oneNetwork(ctx context.Context, name string) (found bool, err error) {
	for range attempts {
		networks, listErr := c.Networks(ctx, name)
		if listErr != nil || len(networks) < 2 {
			return len(networks) == 1, listErr
		}
		keep, useErr := c.inUse(ctx, networks)
		if useErr != nil {
			return false, useErr
		}
		err = nil
		for i, n := range networks {
			if i != keep {
				err = errors.Join(err, c.RemoveNetwork(ctx, n.ID))
			}
		}
		if err == nil {
			return true, nil
		}
	}
	return false, err
}

// inUse returns the index of the network that containers are in, 0 when there is none, and an error when there are
// several. A container that was never started is in none: it takes the one that is left.
func (c *Client) inUse(ctx context.Context, networks []Network) (index int, err error) {
	var used []string
	for i, n := range networks {
		containers, err := c.Containers(ctx, Filter{Network: n.ID})
		if err != nil {
			return 0, err
		}
		if len(containers) > 0 {
			slices.Sort(containers)
			index, used = i, append(used, fmt.Sprintf("%s (containers %s)", short(n.ID),
				strings.Join(containers, ", ")))
		}
	}
	if len(used) > 1 {
		return 0, fault.New(fault.DockerFailed,
			fmt.Sprintf("use network %s: containers are in each of %d networks of that name: %s", networks[0].Name,
				len(used), strings.Join(used, "; ")),
			"Keep one of them: clean up the clusters of the others (cluster-init cleanup), and remove those: docker "+
				"network rm ID.")
	}
	return index, nil
}

func short(id string) string { return id[:min(12, len(id))] }
