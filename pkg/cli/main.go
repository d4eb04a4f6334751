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

// Streams are the process's standard streams: data goes to Out, progress and messages to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	known  *secrecy  // secrets to mask
	binary io.Writer // Out for binary data
}

// Main runs the command in args and returns the process's exit code. The first interrupt ends the command's context,
// the second one ends the process. A terminal hangup and a closed pipe count as interrupts, but never end the process:
// a running move must finish.
func Main(ctx context.Context, args []string, streams Streams) int {
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the run continues
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
			fmt.Fprintf(streams.Err, "flags of the last up: %s\n", strings.Join(taken, " "))
		}
		return err
	}
	command, err := root.ExecuteContextC(ctx)
	if !begun {
		err = asUsage(command, err)
	}
	err = interrupted(ctx, err)
	finish() // so that its message comes before the error
	if err != nil && !wasReported(err) {
		fmt.Fprintf(streams.Err, "error: %s\n", indented(err.Error()))
		for _, hint := range strings.FieldsFunc(fault.HintOf(err), func(r rune) bool { return r == '\n' }) {
			fmt.Fprintf(streams.Err, "hint:  %s\n", hint)
		}
	}
	return ExitCode(err)
}

// indented indents all lines of a message but the first, so that foreign text with line breaks cannot imitate ours.
func indented(message string) string {
	return strings.ReplaceAll(message, "\n", "\n       ")
}

// silenceLibraries silences libraries that write to stderr. Their loggers are global, so doing it twice would be a data
// race.
var silenceLibraries = sync.OnceFunc(func() {
	log.SetOutput(io.Discard) // Helm warns of values that the schema refuses anyway
	// OpenTelemetry prints unreadable variables, which may be secret
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	// client-go reports interrupted watches, which the follower reports itself
	klog.SetLogger(logr.Discard())
})

// interrupted gives an error after an interrupt or --total-timeout the matching code. It keeps an error that outlasts
// an interrupt, and an error after any other cause.
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
	root.AddCommand(aboutBuilt(newUp(streams)), aboutBuilt(newStart(streams)), aboutBuilt(newDown(streams)),
		newPivot(streams), aboutBuilt(newBackup(streams)), newRestore(streams), newCleanup(streams),
		aboutBuilt(newCheck(streams)), aboutBuilt(newDiagnose(streams)), aboutBuilt(newCollect(streams)),
		aboutBuilt(newKubeconfig(streams)),
		aboutBuilt(newStatus(streams)), newRuns(streams), newEnvironments(streams), newInit(streams), newShow(streams),
		newExplain(streams), newRender(streams), aboutBuilt(newDiff(streams)), newPublish(streams), newContent(streams),
		newRegistry(streams), newInstall(streams), newUninstall(streams),
		newWorkload(streams), newVM(streams), newVersion(streams))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseUnknown(root)
	completeAll(root)
	return root
}

const rootLong = `cluster-init builds a Kubernetes management cluster that manages itself: Cluster API creates it,
and Flux keeps it in sync. It replaces a bootstrap.sh:

  cluster-init check ENVIRONMENT     makes all checks of up, and changes nothing
  cluster-init up ENVIRONMENT        builds the management cluster: kind, Flux, components, pivot
  cluster-init start ENVIRONMENT     starts its containers after a reboot, on Docker
  cluster-init status ENVIRONMENT    shows the state of an environment
  cluster-init diagnose ENVIRONMENT  finds out why it does not get ready
  cluster-init render ENVIRONMENT    shows what up would apply
  cluster-init diff ENVIRONMENT      shows how the clusters differ from that
  cluster-init pivot plan ENV        shows what the pivot would move and leave behind
  cluster-init backup ENVIRONMENT    backs up the definition of the management cluster
  cluster-init restore DIR           restores a backup into another management cluster
  cluster-init down ENVIRONMENT      deletes a working management cluster
  cluster-init cleanup ENVIRONMENT   shows what an environment left behind; deletes it with --yes
  cluster-init workload apply ENV    creates a workload cluster
  cluster-init install ENV           turns an existing cluster into a management cluster
  cluster-init runs list             lists earlier runs on this machine

You can interrupt or kill every command and run it again.

Exit codes: 0 done; 1 unknown; 2 usage; 10-19 environment and values; 20-29 this machine, Docker and
the cloud; 30-39 clusters; 40-49 bundle and sources; 50-59 components and timeouts; 60-69 pivot,
backups and restore; 70-79 cleanup; 80-82 status; 83-84 earlier runs; 85 differences;
130 interrupted.`

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
