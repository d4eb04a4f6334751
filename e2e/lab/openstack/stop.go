package openstack

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/service"
)

// Stop ends all daemons that Start has started, and no other, the one that has the address last. It tells whether there
// were any. What is in the cloud stays for the next start.
func (l *Lab) Stop(ctx context.Context) (bool, error) {
	unlock, err := host.Lock(lockName)
	if err != nil {
		return false, err
	}
	defer unlock()
	return l.stop(ctx)
}

func (l *Lab) stop(ctx context.Context) (bool, error) {
	started, err := container.Started(ctx)
	if err != nil {
		return false, err
	}
	if err := unmark(l.ready()); err != nil {
		return false, err
	}
	for _, group := range stopOrder(l.WithHypervisor(l.binary()).services(l.installation()), started) {
		if err := container.Stop(ctx, group...); err != nil {
			return true, err
		}
	}
	return len(started) > 0, nil
}

// stopOrder returns the daemons that were started in groups, those that others need last. Those of a lab of another
// version, which no service names now, come first.
func stopOrder(services []service.Service, started []string) [][]string {
	unknown := slices.Clone(started)
	var groups [][]string
	for _, group := range service.StopOrder(services) {
		named := func(daemon string) bool { return slices.Contains(group, daemon) }
		unknown = slices.DeleteFunc(unknown, named)
		groups = append(groups, slices.DeleteFunc(slices.Clone(started),
			func(daemon string) bool { return !named(daemon) }))
	}
	return append([][]string{unknown}, groups...)
}

// Clean stops everything and deletes the lab's state, and with it all that is in the cloud. Packages stay.
func (l *Lab) Clean(ctx context.Context) error {
	unlock, err := host.Lock(lockName)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := l.stop(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("remove the OpenStack lab: %w", err)
	}
	return nil
}
