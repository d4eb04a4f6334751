package openstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/service"
)

// checkTimeout bounds the look at one service.
const checkTimeout = 10 * time.Second

// checkAll returns nil when all daemons run and all services answer.
func (l *Lab) checkAll(ctx context.Context) error {
	running, err := container.Running(ctx)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, one := range l.services(l.installation()) {
		group.Go(func() error { return check(ctx, one, running) })
	}
	return group.Wait()
}

// check returns nil when a service's daemons run and it answers.
func check(ctx context.Context, one service.Service, running []string) error {
	for _, daemon := range one.Daemons {
		if !slices.Contains(running, daemon.Name) {
			return fmt.Errorf("%s does not run", daemon.Name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return one.Check(ctx)
}

// Status writes a table of all daemons. The error says that not everything is up.
func (l *Lab) Status(ctx context.Context, out io.Writer) error {
	used, err := container.Used(ctx)
	if err != nil {
		return err
	}
	running := slices.Collect(maps.Keys(used))
	var failed error
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVICE\tDAEMON\tPROCESSES\tMEMORY\tSTATE")
	for _, one := range l.services(l.installation()) {
		state := "answers"
		if err := check(ctx, one, running); err != nil {
			state, failed = err.Error(), errors.New("not everything is up: `go run ./e2e/lab openstack start`")
		}
		for _, daemon := range one.Daemons {
			use := used[daemon.Name]
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", one.Name, daemon.Name, use.Processes, use.Memory, state)
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	fmt.Fprintf(out, "OS_CLIENT_CONFIG_FILE=%s, OS_CLOUD=demo or admin\n", l.Clouds())
	return failed
}
