package machineadm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// stepTimeout is for one step, which runs two commands at most.
const stepTimeout = 2*commandTimeout + time.Minute

// Machine runs the preparation and kubeadm.
type Machine struct {
	Host  Host
	Lines Lines
	// ConfigPath is where the Config is.
	ConfigPath string
	// Now is the clock.
	Now func() time.Time
	// Exec replaces this process by a program. It returns only an error.
	Exec func(path string, args []string) error
}

// Prepare runs the steps of the Config, and ends with the first that fails. It writes the Report after each step.
func (m Machine) Prepare(ctx context.Context) (Report, error) {
	report := Report{APIVersion: APIVersion, Kind: ReportKind, Started: m.Now().UTC(), Result: Running}
	unlock, err := m.Host.lock()
	if err != nil { // the other one writes the report
		_, _ = fmt.Fprintln(m.Lines.Errors, LinePrefix+err.Error())
		return report, err
	}
	defer unlock()
	if isNode, err := m.Host.isNode(); isNode || err != nil {
		_, _ = fmt.Fprintln(m.Lines.Errors, LinePrefix+"nothing to prepare: this machine is a node")
		return report, err
	}
	var config Config
	read := step{name: "read the configuration", run: func(context.Context) (err error) {
		config, err = Load(m.Host.at(m.ConfigPath))
		return err
	}}
	secrets := &scrubber{}
	if err = m.run(ctx, &report, read, secrets); err == nil {
		secrets.addConfig(config)
		for _, s := range m.Host.steps(config) {
			if err = m.run(ctx, &report, s, secrets); err != nil {
				break
			}
		}
	}
	report.Result = Prepared
	line := fmt.Sprintf("prepared: %d steps", len(report.Steps))
	if err != nil {
		report.Result = Failed
		line = FailedPrefix + err.Error()
	}
	if written := m.Host.writeReport(report); written != nil && err == nil {
		err, line = written, FailedPrefix+written.Error()
	}
	m.Lines.outcome(line)
	return report, err
}

// run runs a step and adds it to the Report. The error has no secrets.
func (m Machine) run(ctx context.Context, report *Report, s step, secrets *scrubber) error {
	timeout := cmp.Or(s.timeout, stepTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no end after %s", timeout))
	defer cancel()
	began := m.Now()
	report.Steps = append(report.Steps, StepReport{Name: s.name, Result: Running})
	done := &report.Steps[len(report.Steps)-1]
	err := m.Host.writeReport(*report)
	if err == nil {
		err = s.run(ctx)
	}
	done.Result, done.Seconds = Succeeded, seconds(m.Now().Sub(began))
	if err != nil {
		done.Result, done.Error = Failed, oneline.Of(secrets.clean(err.Error()), maxLine)
		return fmt.Errorf("%s: %s", s.name, done.Error)
	}
	return nil
}

// seconds returns a duration with three digits.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
