package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// agreed returns nil if nothing forbids the plan and the user confirms it.
func (o *cleanupOptions) agreed(ctx context.Context, s subject, plan cleanup.Plan,
	permission cleanup.Permission) error {
	unconfirmed := unconfirmed(s, plan)
	if !o.yes && !isTerminal(o.streams.In) {
		return unconfirmed
	}
	if isAdmin(s.cloud) && !o.allowAdmin {
		return fault.New(fault.CleanupRefused, "the credentials are those of an administrator of the cloud: nothing "+
			"was deleted",
			"Use those of a member of the project, or add --allow-admin.")
	}
	if err := permission.Err(); err != nil {
		return err
	}
	if permission.Reason != "" {
		oneline.Fprintf(o.streams.Err, "%s may be deleted: %s.\n", s.target.Cluster, permission.Reason)
	}
	if o.yes {
		return nil
	}
	oneline.Fprintf(o.streams.Err, "Type %s to delete what is shown: ", s.target.Cluster)
	typed, err := line(ctx, o.streams.In)
	if err != nil {
		return err
	}
	if typed != s.target.Cluster {
		return unconfirmed
	}
	return nil
}

// unconfirmed returns the error for a plan without the user's confirmation.
func unconfirmed(s subject, plan cleanup.Plan) error {
	message, hint := "dry run: "+oneline.Count(len(plan.Delete), "resource")+" would be deleted",
		"Run it again with --yes to delete what is shown."
	if plan.Refused != "" {
		message += ", with --force " + s.target.Cluster
		hint = "Run it again with --yes --force " + s.target.Cluster + " to delete what is shown."
	}
	return fault.New(fault.ConfirmationRequired, message, hint)
}

// ask checks whether the resources in the plan may be deleted. With --force it only checks for another run. With
// --force and --yes, or an empty plan, it checks nothing.
func (o *cleanupOptions) ask(ctx context.Context, s subject, plan cleanup.Plan) (cleanup.Permission, error) {
	switch {
	case plan.Empty(), o.force != "" && o.yes: // checked again when the leases are taken
		return cleanup.Permission{}, nil
	case o.force != "":
		return cleanup.Permission{}, o.observer(s).Alone(ctx, plan)
	}
	return o.observer(s).Ask(ctx, plan)
}

func (o *cleanupOptions) observer(s subject) cleanup.Observer {
	observer := cleanup.Observer{Engine: &docker.Client{}, EngineAddress: o.engine, Target: s.target,
		StateFolder: s.state, Kubeconfig: o.kubeconfig,
		Waiting: func(what string) { oneline.Fprintf(o.streams.Err, "waiting to see %s\n", what) }}
	if o.force != "" {
		observer.Forced = func(err error) { oneline.Fprintf(o.streams.Err, "warning: %v; --force continues\n", err) }
	}
	return observer
}

func isTerminal(in io.Reader) bool {
	file, is := in.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// line reads one line. A read of a terminal cannot be cancelled: after an interrupt the goroutine stays until exit.
func line(ctx context.Context, in io.Reader) (string, error) {
	read := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(in).ReadString('\n') // at the end of the input there is no line break
		read <- strings.TrimSpace(text)
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case text := <-read:
		return text, nil
	}
}
