package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/render"
)

// companionOptions are the flags for files that are written beside what a run prints.
type companionOptions struct {
	junit string
}

func (o *companionOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.junit, "junit", "", "write a JUnit report to this file at the end: a testcase for each phase")
}

// check refuses files that could not be written, before anything is created.
func (o companionOptions) check() error {
	if o.junit == "" {
		return nil
	}
	err := canWrite(o.junit)
	if err == nil {
		err = isReplaceable(o.junit)
	}
	if err != nil {
		return fault.Wrap(fmt.Errorf("write --junit: %w", err), fault.Usage, "Give the path of a file in a folder that you may write to.")
	}
	return nil
}

// write writes the files of a run that has ended.
func (o companionOptions) write(events []event.Event, redact func(string) string) error {
	if o.junit == "" {
		return nil
	}
	report, err := render.JUnit(redacted(events, redact))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(o.junit), 0o755)
	}
	if err == nil {
		err = replaceFile(o.junit, report)
	}
	if err != nil {
		return fmt.Errorf("write --junit: %w", err)
	}
	return nil
}

// replaceFile writes a file that others may read. One that was there stays as it is until the new one is whole.
func replaceFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".cluster-init-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}

// redacted returns events without secrets. One that cannot be read without them is left out.
func redacted(events []event.Event, redact func(string) string) []event.Event {
	clean := make([]event.Event, len(events))
	for i, e := range events {
		clean[i] = e.Clean(redact)
	}
	return clean
}
