package environment

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// unknownValue begins what stands for a value that could not be found out, until all else was looked at: an environment
// that holds it is never returned, and nothing is said of what it breaks.
const unknownValue = "cluster-init: unknown value"

// problem is something wrong with a file. It counts as long as what stands for the value that could not be found out is
// among the values that count: another file, or a flag, may give that value. One without a stand-in always counts.
type problem struct {
	err     error
	standIn string
}

// err returns all problems, whether they count or not.
func (s *substituter) err() error {
	return s.those(func(problem) bool { return true })
}

// counting returns the problems that matter for what all files and flags come to.
func (s *substituter) counting(values map[string]any) error {
	return s.those(func(p problem) bool { return p.standIn == "" || holds(values, p.standIn) })
}

func (s *substituter) those(count func(problem) bool) error {
	var errs []error
	for _, p := range s.problems {
		if count(p) {
			errs = append(errs, p.err)
		}
	}
	return fault.Join(errs...)
}

// unknown keeps why a value could not be found out, and returns what stands for it.
func (s *substituter) unknown(why []error) string {
	standIn := fmt.Sprintf("%s %d.", unknownValue, len(s.problems)) // the dot ends the number
	for _, err := range why {
		s.problems = append(s.problems, problem{err: err, standIn: standIn})
	}
	return standIn
}

// holds reports whether a text is in a value, or in a key.
func holds(value any, text string) bool {
	switch typed := value.(type) {
	case string:
		return strings.Contains(typed, text)
	case []any:
		for _, entry := range typed {
			if holds(entry, text) {
				return true
			}
		}
	case map[string]any:
		for key, entry := range typed {
			if strings.Contains(key, text) || holds(entry, text) {
				return true
			}
		}
	}
	return false
}

// forgetUnknown takes stand-ins for values that do not count out of the documents. The Secrets get the value that
// counts in their place, so that it is as secret as it was meant to be; the ConfigMap gets none, as what counts may be
// a secret.
func (e *Environment) forgetUnknown() {
	counts := e.effective.merged()
	for _, d := range []*documents{&e.documents, &e.effective} {
		d.values = withoutUnknown(d.values, nil)
		d.secrets = withoutUnknown(d.secrets, counts)
		d.infraSecrets = withoutUnknown(d.infraSecrets, counts)
	}
}

// withoutUnknown returns values with those of instead in the place of stand-ins, or with nothing there.
func withoutUnknown(values, instead map[string]any) map[string]any {
	if !holds(values, unknownValue) {
		return values
	}
	out := map[string]any{}
	for key, value := range values {
		other, there := instead[key]
		nested, isMap := value.(map[string]any)
		otherNested, _ := other.(map[string]any)
		switch {
		case strings.Contains(key, unknownValue):
		case !holds(value, unknownValue):
			out[key] = value
		case isMap:
			out[key] = withoutUnknown(nested, otherNested)
		case there:
			out[key] = copyValue(other)
		}
	}
	return out
}
