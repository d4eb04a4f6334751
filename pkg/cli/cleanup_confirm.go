package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// agreed is nil when what the plan says may be deleted: nothing speaks against it, and the user wants it.
func (o *cleanupOptions) agreed(ctx context.Context, s subject, plan cleanup.Plan) error {
	unconfirmed := fault.New(fault.ConfirmationRequired, fmt.Sprintf("nothing was deleted: %d things would be", len(plan.Delete)), "Run it again with --yes to delete what is shown.")
	if !o.yes && !isTerminal(o.streams.In) {
		return unconfirmed
	}
	if isAdmin(s.cloud) && !o.allowAdmin {
		return fault.New(fault.CleanupRefused, "the credentials are those of an administrator of the cloud: nothing was deleted",
			"Use those of a member of the project, or add --allow-admin.")
	}
	asked, err := o.mayGo(ctx, s)
	if err == nil && !asked {
		fmt.Fprintf(o.streams.Err, "Nobody could be asked whether %s still manages itself: no cluster answers by the kubeconfig %s.\n", s.target.Cluster, s.kubeconfig)
	}
	if err != nil || o.yes {
		return err
	}
	fmt.Fprintf(o.streams.Err, "Type %s to delete what is shown: ", s.target.Cluster)
	typed, err := line(ctx, o.streams.In)
	if err != nil {
		return err
	}
	if typed != s.target.Cluster {
		return unconfirmed
	}
	_, err = o.mayGo(ctx, s) // who typed may have taken their time
	return err
}

// mayGo fails when the cluster manages itself. asked is whether it answered, or need not be asked, as with --force.
func (o *cleanupOptions) mayGo(ctx context.Context, s subject) (asked bool, err error) {
	if o.force != "" {
		return true, nil
	}
	return cleanup.CheckManagement(ctx, s.kubeconfig, s.target)
}

func isAdmin(c *openstack.Client) bool {
	return c != nil && slices.ContainsFunc(c.Roles, func(role string) bool { return strings.EqualFold(role, "admin") })
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
