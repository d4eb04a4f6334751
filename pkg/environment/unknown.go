package environment

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// unknownValue begins the stand-in for an unknown value until all else was checked: an environment that contains one is
// never returned, and its consequences are not reported.
const unknownValue = "cluster-init: unknown value"

// problem is a mistake in a file. It counts while its stand-in is among the effective values: another file, or a flag,
// may override that value. A problem without a stand-in always counts.
type problem struct {
	err     error
	standIn string
}

// err returns all problems, whether they count or not.
func (s *substituter) err() error {
	return s.those(func(problem) bool { return true })
}

// counting returns the problems that matter for the effective values.
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

// unknown records why a value is unknown, and returns its stand-in.
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

// forgetUnknown removes overridden stand-ins from the documents. The Secrets get the effective value in their place, so
// that it stays as secret as intended. The ConfigMap gets none, as the effective value may be secret.
func (e *Environment) forgetUnknown() {
	counts := e.effective.merged()
	for _, d := range []*documents{&e.documents, &e.effective} {
		d.values = withoutUnknown(d.values, nil)
		d.secrets = withoutUnknown(d.secrets, counts)
		d.infraSecrets = withoutUnknown(d.infraSecrets, counts)
	}
}

// withoutUnknown returns values with stand-ins replaced by those of instead, or removed.
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
