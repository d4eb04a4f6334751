package machineadm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/output"
)

// nodeFile exists on a machine that is a node, or that kubeadm has begun to make one of.
const nodeFile = "/etc/kubernetes/kubelet.conf"

// isNode reports whether the machine is a node: it has nodeFile, and kubeadm has not failed since the last start.
func (h Host) isNode() (bool, error) {
	begun, err := h.exists(nodeFile)
	if err != nil || !begun {
		return false, err
	}
	report, ok, err := h.readReport()
	return !ok || report.Kubeadm == nil || report.Kubeadm.Result == Succeeded, err
}

// bootstrapCommand returns init or join if the arguments make a node of the machine. A dry run, help, and a single
// phase do not.
func bootstrapCommand(args []string) string {
	if slices.ContainsFunc(args, func(a string) bool {
		return a == "-h" || a == "--help" || a == "help" || a == "phase" || a == "--dry-run" || a == "--dry-run=true"
	}) {
		return ""
	}
	for _, arg := range args {
		if arg == "init" || arg == "join" {
			return arg
		}
	}
	return ""
}

// kubeadmTimeout is far above kubeadm's own timeouts, which are minutes.
const kubeadmTimeout = time.Hour

// The exit codes of machineadm itself. That of kubeadm is passed on.
const (
	exitFailed = 1
	exitUsage  = 2
)

// maxErrors is how many error lines of kubeadm a report has.
const maxErrors = 10

// Streams are those of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Kubeadm runs the kubeadm of the machine with the arguments, and returns its exit code. `kubeadm init` and `kubeadm
// join` make a node of a machine, and run only on one that is prepared. All else is kubeadm's alone, as on a machine
// without machineadm. self is the path of the shim, which also bears the name kubeadm; empty means that there is none.
func (m Machine) Kubeadm(ctx context.Context, self string, args []string, streams Streams) int {
	isNode, err := m.Host.isNode()
	command := bootstrapCommand(args)
	if err == nil && command != "" && !isNode {
		return m.bootstrap(ctx, command, self, args, streams)
	}
	kubeadm, missing := m.Host.findKubeadm(self)
	if err = errors.Join(missing, err); err == nil {
		err = m.Exec(kubeadm, append([]string{"kubeadm"}, args...))
	}
	_, _ = fmt.Fprintln(streams.Err, LinePrefix+err.Error())
	return exitFailed
}

// bootstrap runs kubeadm on a machine that is prepared, and reports the outcome.
func (m Machine) bootstrap(ctx context.Context, command, self string, args []string, streams Streams) int {
	report, err := m.prepareOnce(ctx)
	if err != nil {
		return exitFailed
	}
	began := m.Now()
	done := &KubeadmReport{Command: command, Result: Running, ExitCode: exitFailed}
	report.Kubeadm, report.Result = done, Running
	said := &output.Tail{Limit: 4 * maxOutput}
	kubeadm, err := m.Host.findKubeadm(self) // the preparation may have installed it
	if err = errors.Join(err, m.Host.writeReport(report)); err == nil {
		ctx, cancel := context.WithTimeout(ctx, kubeadmTimeout)
		defer cancel()
		streams.Out, streams.Err = io.MultiWriter(streams.Out, said), io.MultiWriter(streams.Err, said)
		done.ExitCode, err = runProgram(ctx, kubeadm, args, streams)
	}
	done.Seconds = seconds(m.Now().Sub(began))
	m.conclude(&report, said.String(), args, err)
	return done.ExitCode
}

// prepareOnce returns the Report of the preparation, which it runs unless that has happened since the machine started.
func (m Machine) prepareOnce(ctx context.Context) (Report, error) {
	report, ok, err := m.Host.readReport()
	switch {
	case err != nil || !ok: // an unreadable report may hide a failure
		return m.Prepare(ctx)
	case report.prepared():
		return report, nil
	}
	for _, s := range report.Steps {
		if s.Result == Failed {
			err := fmt.Errorf("%s: %s", s.Name, s.Error)
			m.Lines.outcome(FailedPrefix + err.Error())
			return report, err
		}
	}
	return m.Prepare(ctx) // an earlier one was killed
}

// conclude completes the Report and says the outcome.
func (m Machine) conclude(report *Report, output string, args []string, err error) {
	done := report.Kubeadm
	report.Result, done.Result = Succeeded, Succeeded
	line := fmt.Sprintf("succeeded: kubeadm %s in %.0f s", done.Command, done.Seconds)
	if err != nil || done.ExitCode != 0 {
		secrets := &scrubber{}
		if config, err := Load(m.Host.at(m.ConfigPath)); err == nil {
			secrets.addConfig(config)
		}
		secrets.addFile(configFile(args))
		report.Result, done.Result = Failed, Failed
		done.Phase, done.Errors = explain(output)
		if len(done.Errors) == 0 {
			done.Errors = []string{fmt.Sprintf("exit code %d", done.ExitCode)}
			if err != nil {
				done.Errors = []string{err.Error()}
			}
		}
		for i, text := range done.Errors {
			done.Errors[i] = oneline.Of(secrets.clean(text), maxLine)
		}
		line = FailedPrefix + "kubeadm " + done.Command
		if done.Phase != "" {
			line += ", phase " + done.Phase
		}
		line += ": " + strings.Join(done.Errors, "; ")
	}
	if err := m.Host.writeReport(*report); err != nil {
		line += "; " + err.Error()
	}
	m.Lines.outcome(line)
}

var (
	phaseFailed = regexp.MustCompile(`(?m)error execution phase ([a-z/-]+): (.*)$`)
	errorLine   = regexp.MustCompile(`(?m)^\s*(\[ERROR [^\]\s]+\]: .*)$`)
)

// explain returns the phase of kubeadm that failed, and its errors.
func explain(output string) (phase string, errs []string) {
	match := phaseFailed.FindStringSubmatch(output)
	if match != nil {
		phase = match[1]
	}
	for _, line := range errorLine.FindAllStringSubmatch(output, maxErrors) {
		errs = append(errs, line[1])
	}
	switch {
	case len(errs) > 0:
	case match != nil:
		errs = []string{match[2]}
	default:
		if line := lastLine(output); line != "" {
			errs = []string{line}
		}
	}
	return phase, errs
}

// configFile returns the value of kubeadm's flag --config, or "".
func configFile(args []string) string {
	for i, arg := range args {
		if value, found := strings.CutPrefix(arg, "--config="); found {
			return value
		}
		if arg == "--config" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// shims are the places of the shim.
var shims = []string{"/usr/local/sbin/kubeadm", "/opt/machineadm/bin/kubeadm"}

// programFolders are those of the PATH, and where images have Kubernetes.
func (h Host) programFolders() []string {
	return append(strings.Split(h.Path, ":"), "/usr/bin", "/usr/local/bin", "/opt/bin")
}

// findKubeadm returns the first kubeadm that is not the shim.
func (h Host) findKubeadm(self string) (string, error) {
	own, _ := os.Stat(self) // nil without a shim
	for _, folder := range h.programFolders() {
		path := h.at(folder + "/kubeadm")
		info, err := os.Stat(path)
		isShim := slices.Contains(shims, folder+"/kubeadm") || own != nil && err == nil && os.SameFile(info, own)
		if err == nil && isProgram(path) && !isShim {
			return path, nil
		}
	}
	return "", errors.New("the machine has no kubeadm")
}

// runProgram runs a program to its end, and returns its exit code: 128 and the signal if one ended it, as a shell does.
// The error is about a program that did not run, or that a signal ended.
func runProgram(ctx context.Context, path string, args []string, streams Streams) (int, error) {
	command := exec.CommandContext(ctx, path, args...)
	command.Stdin, command.Stdout, command.Stderr = streams.In, streams.Out, streams.Err
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = killDelay
	err := command.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return exitFailed, fmt.Errorf("run %s: %w", path, err)
		}
		return 0, nil
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), fmt.Errorf("%s was ended by %s", path, status.Signal())
	}
	return exit.ExitCode(), nil
}
