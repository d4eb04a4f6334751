package openstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/service"
)

// checkTimeout bounds the look at one service.
const checkTimeout = 10 * time.Second

// checkAll returns nil when all daemons run and all services answer.
func (l *Lab) checkAll(ctx context.Context) error {
	var group errgroup.Group
	for _, one := range l.services(l.installation()) {
		group.Go(func() error { return l.check(ctx, one) })
	}
	return group.Wait()
}

// check returns nil when a service's daemons run and it answers.
func (l *Lab) check(ctx context.Context, one service.Service) error {
	for _, daemon := range one.Daemons {
		if !l.daemons().Running(daemon.Name) {
			return fmt.Errorf("%s does not run", daemon.Name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return one.Check(ctx)
}

// Status writes a table of all daemons. The error says that not everything is up.
func (l *Lab) Status(ctx context.Context, out io.Writer) error {
	var failed error
	var total int64
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVICE\tDAEMON\tPROCESSES\tMIB\tSTATE")
	for _, one := range l.services(l.installation()) {
		state := "answers"
		if err := l.check(ctx, one); err != nil {
			state, failed = err.Error(), errors.New("not everything is up: `go run ./e2e/lab openstack start`")
		}
		for _, daemon := range one.Daemons {
			memory := l.daemons().Memory(daemon.Name)
			total += memory
			processes := len(l.daemons().Processes(daemon.Name))
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", one.Name, daemon.Name, processes, memory>>20, state)
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	fmt.Fprintf(out, "%d MiB in all. OS_CLIENT_CONFIG_FILE=%s, OS_CLOUD=demo or admin\n", total>>20, l.Clouds())
	return failed
}
