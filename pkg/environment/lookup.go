package environment

import "context"

// newSubstituter makes the substituter of one load.
func newSubstituter(ctx context.Context, options Options) *substituter {
	s := &substituter{}
	s.lookup = func(name string) (string, bool) {
		var value string
		var found bool
		if options.Variables != nil {
			value, found = options.Variables(name)
		}
		if value == "" && options.Derive != nil && s.failed == nil {
			derived, ok, err := options.Derive(ctx, name)
			if s.failed = err; ok {
				value, found = derived, true
			}
		}
		return value, found || options.NamesOnly
	}
	return s
}
