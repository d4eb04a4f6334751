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
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// companionOptions are the flags for report files of a run.
type companionOptions struct {
	junit, report string
}

// companion is one report file.
type companion struct {
	flag, path string
	form       func([]event.Event) ([]byte, error)
}

func (o *companionOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.junit, "junit", "", "write a JUnit report to this file at the end: a test case for each phase")
	f.StringVar(&o.report, "report", "", "write an HTML report to this file at the end: timeline, critical path, "+
		"history of each object, causes")
}

// wanted returns the files that the user requested.
func (o companionOptions) wanted() []companion {
	var files []companion
	for _, c := range []companion{{"--junit", o.junit, render.JUnit}, {"--report", o.report, render.Report}} {
		if c.path != "" {
			files = append(files, c)
		}
	}
	return files
}

// check refuses files that could not be written, before anything is created.
func (o companionOptions) check() error {
	paths := map[string]string{}
	for _, c := range o.wanted() {
		err := canWrite(c.path)
		if err == nil {
			err = isReplaceable(c.path)
		}
		if other := paths[filepath.Clean(c.path)]; err == nil && other != "" {
			err = fmt.Errorf("%s writes %s too", other, c.path)
		}
		if err != nil {
			return fault.Wrap(fmt.Errorf("write %s: %w", c.flag, err), fault.Usage,
				"Give the path of a file in a folder that you may write to, another for each flag.")
		}
		paths[filepath.Clean(c.path)] = c.flag
	}
	return nil
}

// write writes the report files of a finished run. It continues if one fails.
func (o companionOptions) write(events []event.Event, redact func(string) string) error {
	var all []error
	clean := redacted(events, redact)
	for _, c := range o.wanted() {
		content, err := c.form(clean)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(c.path), 0o755)
		}
		if err == nil {
			err = wholefile.Write(c.path, content, 0o644)
		}
		if err != nil {
			all = append(all, fmt.Errorf("write %s: %w", c.flag, err))
		}
	}
	return errors.Join(all...)
}

// redacted returns events without secrets.
func redacted(events []event.Event, redact func(string) string) []event.Event {
	clean := make([]event.Event, len(events))
	for i, e := range events {
		clean[i] = e.Clean(redact)
	}
	return clean
}
