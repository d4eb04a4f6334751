package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// WithBounds returns the phases with other timeouts; zero means no timeout. The error names the unknown phases.
func WithBounds(phases []Phase, bounds map[string]time.Duration) ([]Phase, error) {
	bounded := slices.Clone(phases)
	var names, unknown []string
	for i, p := range bounded {
		names = append(names, p.Name)
		if bound, is := bounds[p.Name]; is {
			bounded[i].Timeout = bound
		}
	}
	for name := range bounds {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return bounded, nil
	}
	slices.Sort(unknown)
	return nil, fault.New(fault.Usage, fmt.Sprintf("--phase-timeout: there is no phase %s",
		strings.Join(unknown, ", ")),
		"The phases are "+strings.Join(names, ", ")+".")
}
