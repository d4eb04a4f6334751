package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// agreed is nil when what the plan says may be deleted: nothing speaks against it, and the user wants it.
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
	if permission.Why != "" {
		oneline.Fprintf(o.streams.Err, "%s may go: %s.\n", s.target.Cluster, permission.Why)
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

// unconfirmed says that the user has not said yes.
func unconfirmed(s subject, plan cleanup.Plan) error {
	message, hint := fmt.Sprintf("nothing was deleted: %d things would be", len(plan.Delete)),
		"Run it again with --yes to delete what is shown."
	if plan.Refused != "" {
		message += ", with --force " + s.target.Cluster
		hint = "Run it again with --yes --force " + s.target.Cluster + " to delete what is shown, if it is to go as " +
			"it is."
	}
	return fault.New(fault.ConfirmationRequired, message, hint)
}

// ask asks whether what the plan has found may be deleted. With --force it is only said whether another run is at work,
// and where nothing was found nobody need be asked.
func (o *cleanupOptions) ask(ctx context.Context, s subject, plan cleanup.Plan) (cleanup.Permission, error) {
	switch {
	case plan.Empty(), o.force != "" && o.yes: // that is said when the leases are taken
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
		observer.Forced = func(err error) { oneline.Fprintf(o.streams.Err, "warning: %v; --force goes on\n", err) }
	}
	return observer
}

func isTerminal(in io.Reader) bool {
	file, is := in.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// line reads one line. Nothing can end a read of a terminal: after an interrupt it is left to the end of the process.
func line(ctx context.Context, in io.Reader) (string, error) {
	read := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(in).ReadString('\n') // whatever came before the end
		read <- strings.TrimSpace(text)
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case text := <-read:
		return text, nil
	}
}
