// Package cli holds the commands: their options, how the parts are wired, signals and exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel"
	"k8s.io/klog/v2"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Streams are the process's standard streams: data goes to Out, narration to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	known  *secrecy  // what must not be written
	binary io.Writer // Out for what is no text
}

// Main runs the command that args name and returns the process's exit code. The first interrupt ends the command's
// context; a second one ends the process at once. A terminal that hangs up, and a reader of the output that goes away,
// are an interrupt too, and never end the process: a move that is under way must come to its end.
func Main(ctx context.Context, args []string, streams Streams) int {
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it: that run goes on
		var release context.CancelFunc
		ctx, release = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer release()
	}
	streams.known = newSecrecy(os.Environ())
	raw := streams
	ctx, streams = unbroken(ctx, streams)
	streams, closeLog := sanitized(raw, streams)
	defer closeLog()
	ctx, finish := interruptible(ctx, streams.Err)
	defer finish()
	silenceLibraries()
	root := newRoot(streams)
	root.SetArgs(args)
	begun := false
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		begun = true
		strays, err := setFromVariables(c, os.Environ())
		for _, stray := range strays {
			fmt.Fprintf(streams.Err, "warning: %s\n", stray)
		}
		if err != nil {
			return err
		}
		taken, err := recall(c, args)
		if len(taken) > 0 {
			fmt.Fprintf(streams.Err, "as at the last up: %s\n", strings.Join(taken, " "))
		}
		return err
	}
	command, err := root.ExecuteContextC(ctx)
	if !begun {
		err = asUsage(command, err)
	}
	err = interrupted(ctx, err)
	finish() // so that what it says does not come after the error, or never
	if err != nil && !wasReported(err) {
		fmt.Fprintf(streams.Err, "error: %s\n", indented(err.Error()))
		for _, hint := range strings.FieldsFunc(fault.HintOf(err), func(r rune) bool { return r == '\n' }) {
			fmt.Fprintf(streams.Err, "hint:  %s\n", hint)
		}
	}
	return ExitCode(err)
}

// indented returns the lines of a message so that none after the first begins as a line of ours does: a word of others
// may have line breaks.
func indented(message string) string {
	return strings.ReplaceAll(message, "\n", "\n       ")
}

// silenceLibraries takes the word from libraries that write to stderr by themselves. Their loggers are the process's,
// and it is done once: again, it would be a race with who uses them.
var silenceLibraries = sync.OnceFunc(func() {
	log.SetOutput(io.Discard) // Helm warns there of values that the schema refuses anyway
	// OpenTelemetry repeats there what it cannot read of its variables, which may be secret
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	// client-go says there that a watch is broken off, which the follower says in words of its own
	klog.SetLogger(logr.Discard())
})

// interrupted gives an error that comes after the user's interrupt, whatever it was, that code. What ended ctx may have
// one of its own.
func interrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && fault.CodeOf(cause) == fault.Timeout &&
		fault.CodeOf(err) != fault.Timeout && errors.Is(err, context.Canceled) && !pipeline.OutlastsInterrupt(err) {
		return fault.Retryable(fmt.Errorf("%w: %w", cause, err), fault.Timeout, fault.HintOf(cause))
	}
	if err == nil || ctx.Err() == nil || fault.CodeOf(context.Cause(ctx)) != fault.Unknown ||
		fault.CodeOf(err) == fault.Interrupted || pipeline.OutlastsInterrupt(err) {
		return err
	}
	err = fault.Retryable(fmt.Errorf("interrupted: %w", err), fault.Interrupted,
		"Nothing is lost: run the same command again.")
	if wasReported(err) {
		return reportedError{err}
	}
	return err
}

func newRoot(streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "cluster-init",
		Short:         "Bootstrap a Kubernetes management cluster the GitOps way",
		Long:          rootLong,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       Version(),
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(flagProblem)
	root.AddCommand(aboutBuilt(newUp(streams)), aboutBuilt(newDown(streams)), newPivot(streams),
		aboutBuilt(newBackup(streams)), newRestore(streams), newCleanup(streams), aboutBuilt(newCheck(streams)),
		aboutBuilt(newDiagnose(streams)), aboutBuilt(newCollect(streams)), aboutBuilt(newKubeconfig(streams)),
		aboutBuilt(newStatus(streams)), newRuns(streams), newEnvironments(streams), newInit(streams), newShow(streams),
		newExplain(streams), newRender(streams), aboutBuilt(newDiff(streams)), newPublish(streams),
		newRegistry(streams), newVersion(streams))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseUnknown(root)
	completeAll(root)
	return root
}

const rootLong = `cluster-init builds a Kubernetes management cluster that looks after itself: made by Cluster API,
kept in sync by Flux. It replaces a bootstrap.sh:

  cluster-init up ENVIRONMENT        kind, Flux, telco-cloud-init, the management cluster, the pivot
  cluster-init check ENVIRONMENT     checks all that up would check, and changes nothing
  cluster-init render ENVIRONMENT    shows what up would apply: values, chart and the manifests of every component
  cluster-init diff ENVIRONMENT      shows how the clusters that are there differ from that
  cluster-init pivot plan ENV        shows what the pivot would move, and what it would leave behind
  cluster-init backup ENVIRONMENT    backs up the definition of the management cluster, encrypted if you name a key
  cluster-init restore DIR           puts a backup into another management cluster, which adopts the machines that still run
  cluster-init cleanup ENVIRONMENT   shows what an environment left behind, here and in OpenStack, and deletes it with --yes
  cluster-init status ENVIRONMENT    shows how far an environment is; diagnose says why it is stuck
  cluster-init runs list             lists earlier runs on this machine; runs show last, runs replay last

All can be interrupted, or killed, and run again.

Exit codes: 0 done; 1 unknown; 2 usage; 10-19 environment and values; 20-29 this machine and Docker;
30-39 clusters; 40-49 bundle and sources; 50-59 components and time; 60-69 pivot, backups and restore; 70-79 cleanup; 80-82 status; 83-84 earlier runs; 85 differences; 130 interrupted.`

// exactlyOne is cobra.ExactArgs(1) with a hint.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fault.New(fault.Usage, fmt.Sprintf("%s takes one %s, not %d", c.CommandPath(), what, len(args)),
			"See "+c.CommandPath()+" --help.")
	}
}
