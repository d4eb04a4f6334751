// Package start is what cert-manager's programs have in common: arguments, logs, their version, and the end by a
// signal.
package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util"
)

// upstream is the module whose version the programs report.
const upstream = "github.com/cert-manager/cert-manager"

// Main parses the program's arguments and calls run with a context that ends on an interrupt or SIGTERM. logging is
// what the flags set.
func Main(flags *pflag.FlagSet, logging *logsapi.LoggingConfiguration, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := try(ctx, flags, logging, run)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", flags.Name(), err)
		os.Exit(1)
	}
}

func try(ctx context.Context, flags *pflag.FlagSet, logging *logsapi.LoggingConfiguration,
	run func(context.Context) error) error {
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	logf.InitLogs()
	defer logf.FlushLogs()
	if err := logf.ValidateAndApply(logging); err != nil {
		return fmt.Errorf("set up logs: %w", err)
	}
	ctrl.SetLogger(logf.Log)
	util.AppVersion = version()
	logf.Log.V(logf.InfoLevel).Info("starting", "program", flags.Name(), "version", util.AppVersion)
	return run(logf.NewContext(ctx, logf.Log, flags.Name()))
}

// version reads the version of upstream's module out of the program. Upstream's builds set it with a linker flag.
func version() string {
	if info, found := debug.ReadBuildInfo(); found {
		for _, module := range info.Deps {
			if module.Path == upstream {
				return module.Version
			}
		}
	}
	return util.AppVersion
}
