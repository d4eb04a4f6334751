package environment

import (
	"context"
	"strings"
)

// newSubstituter makes the substituter of one load.
func newSubstituter(ctx context.Context, options Options) *substituter {
	s := &substituter{inShell: map[string]bool{}, derived: map[string]bool{}, filled: map[string]bool{}}
	s.lookup = func(name string) (string, bool) {
		var value string
		var found bool
		if options.Variables != nil {
			if value, found = options.Variables(name); strings.HasSuffix(name, "_B64") {
				value = base64Line(value)
			}
			s.inShell[name] = value != ""
		}
		if value == "" && options.Derive != nil && s.failed == nil {
			derived, ok, err := options.Derive(ctx, name)
			if s.failed = err; ok {
				value, found = derived, true
				s.derived[name] = derived != ""
			}
		}
		return value, found || options.NamesOnly
	}
	return s
}
