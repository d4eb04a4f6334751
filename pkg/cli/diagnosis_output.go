package cli

import (
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// diagnosisOutput are the flags of a command that prints a diagnosis.
type diagnosisOutput struct {
	outputOptions
	rules string
}

func (o *diagnosisOutput) flags(f *pflag.FlagSet) {
	o.formatFlag(f, "plain: for people; json: one document for programs")
	f.StringVar(&o.rules, "rules", "", "folder with your own rules, a file NAME.yaml each; they take precedence over "+
		"built-in rules")
}

// check refuses an unknown format, and returns the user's own rules.
func (o *diagnosisOutput) check() ([]diagnose.Rule, error) {
	if err := o.known(); err != nil || o.rules == "" {
		return nil, err
	}
	return diagnose.ReadRules(o.rules)
}

// report prints a diagnosis. It returns the error of the command.
func (o *diagnosisOutput) report(streams Streams, report diagnose.Report) error {
	if err := o.show(streams, report); err != nil {
		return err
	}
	err := report.Err()
	if err != nil && o.format == "plain" && fault.CodeOf(err) == fault.ComponentStuck {
		return reportedError{err} // the report has said it
	}
	return err
}
