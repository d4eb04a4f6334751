package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// phaseTimeouts are the values of --phase-timeout, as they were given.
type phaseTimeouts struct{ given []string }

// flags registers the flag of a command that has these phases.
func (o *phaseTimeouts) flags(f *pflag.FlagSet, phases []string) {
	f.StringSliceVar(&o.given, "phase-timeout", nil, "PHASE=DURATION: timeout of this phase; 0 waits forever "+
		"(repeatable)")
	var begun []string
	for _, phase := range phases {
		begun = append(begun, phase+"=")
	}
	f.Lookup("phase-timeout").Annotations = map[string][]string{assigned: begun}
}

// parse returns the bounds by phase, or all problems. pipeline.WithBounds checks the names of the phases later.
func (o *phaseTimeouts) parse() (map[string]time.Duration, error) {
	bounds := map[string]time.Duration{}
	var problems []error
	for _, given := range o.given {
		phase, text, _ := strings.Cut(given, "=")
		bound, err := time.ParseDuration(text)
		if _, twice := bounds[phase]; twice || err != nil {
			problems = append(problems, fault.New(fault.Usage,
				fmt.Sprintf("--phase-timeout %s is not one PHASE=DURATION", given),
				"Give each phase one bound, as in --phase-timeout images=45m."))
			continue
		}
		problems = append(problems, checkBound("--phase-timeout "+phase+"=", bound))
		bounds[phase] = bound
	}
	return bounds, fault.Join(problems...)
}
