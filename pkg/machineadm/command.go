package machineadm

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

const usage = `machineadm prepares a machine for Kubernetes, runs kubeadm once, and reports the outcome.

  machineadm prepare              prepare this machine by ` + ConfigPath + `
  machineadm kubeadm ARGUMENTS    prepare it, then run kubeadm
  machineadm check FILE           check a MachineConfig; "-" reads it from standard input
  machineadm check --image FILE   check also whether this machine has what it needs
  machineadm report               print the report of this machine
  machineadm version              print the version of the configurations that it reads
`

// defaultPath has the folders of commands when PATH is not set.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"

// Main runs machineadm and returns its exit code.
func Main(ctx context.Context, args []string, streams Streams) int {
	if len(args) == 0 {
		_, _ = io.WriteString(streams.Err, usage)
		return exitUsage
	}
	path := os.Getenv("PATH")
	if path == "" {
		path = defaultPath
	}
	machine := Machine{
		Host:       Host{Path: path},
		Lines:      Lines{Errors: streams.Err, Console: "/dev/console", Journal: journalSocket},
		ConfigPath: ConfigPath,
		Now:        time.Now,
		Exec:       func(path string, args []string) error { return syscall.Exec(path, args, os.Environ()) },
	}
	rest := args[1:]
	switch {
	case args[0] == "prepare" && len(rest) == 0:
		if _, err := machine.Prepare(ctx); err != nil {
			return exitFailed
		}
		return 0
	case args[0] == "kubeadm":
		return machine.Kubeadm(ctx, os.Getenv("MACHINEADM_SHIM"), rest, streams)
	case args[0] == "check" && len(rest) == 1:
		return finish(streams.Err, check(rest[0], streams.In, nil))
	case args[0] == "check" && len(rest) == 2 && rest[0] == "--image":
		return finish(streams.Err, check(rest[1], streams.In, &machine.Host))
	case args[0] == "report" && len(rest) == 0:
		content, err := os.ReadFile(ReportPath)
		_, _ = streams.Out.Write(content)
		return finish(streams.Err, err)
	case args[0] == "version" && len(rest) == 0:
		_, _ = fmt.Fprintln(streams.Out, APIVersion)
		return 0
	case args[0] == "help" || args[0] == "--help" || args[0] == "-h":
		_, _ = io.WriteString(streams.Out, usage)
		return 0
	}
	command := oneline.Of(strings.Join(args, " "), maxLine)
	_, _ = fmt.Fprintf(streams.Err, "machineadm: unknown command %q\n\n%s", command, usage)
	return exitUsage
}

// check checks a file, and the host if there is one.
func check(path string, in io.Reader, host *Host) error {
	var config Config
	var err error
	if path == "-" {
		var content []byte
		if content, err = io.ReadAll(io.LimitReader(in, maxConfigBytes+1)); err == nil {
			config, err = Parse(content)
		}
	} else {
		config, err = Load(path)
	}
	if err != nil || host == nil {
		return err
	}
	if err := host.checkImage(config); err != nil {
		return fmt.Errorf("the image: %w", err)
	}
	return nil
}

// finish prints an error with its hint, and returns the exit code.
func finish(out io.Writer, err error) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(out, "machineadm: %v\n", err)
	if hint := fault.HintOf(err); hint != "" {
		_, _ = fmt.Fprintf(out, "hint: %s\n", hint)
	}
	return exitFailed
}
