package helm

import (
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
)

// ReadValues reads a YAML file of values. The result is never nil. It does not bound what the text expands to: check
// foreign text with unpack.YAML before.
func ReadValues(text []byte) (map[string]any, error) {
	values, err := chartutil.ReadValues(text)
	return values, err
}

// Set puts the values of one --set, such as a.b=1,c[0]=x, into values. Integers without leading zeros, true, false and
// null get their own type; all else is text.
func Set(set string, values map[string]any) error { return strvals.ParseInto(set, values) }

// SetText is Set, but each value is text.
func SetText(set string, values map[string]any) error { return strvals.ParseIntoString(set, values) }
