package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// attempts is how often oneNetwork tries: a network may come into use before its removal.
const attempts = 3

// oneNetwork reports whether a network of that name exists, and removes all but one. It keeps the one with containers.
// If none has containers, it keeps the first by ID, as kind does, so that concurrent runs agree.
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

// inUse returns the index of the network with containers, 0 if none has any, and an error if several have. A container
// that was never started is in none: it uses the remaining one.
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
