package helm

import (
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
)

// ReadValues reads a YAML file of values. The result is never nil. It does not bound what the text expands to: read
// text of others with unpack.YAML before.
func ReadValues(text []byte) (map[string]any, error) {
	values, err := chartutil.ReadValues(text)
	return values, err
}

// Set puts the values of one --set, such as a.b=1,c[0]=x, into values. Numbers and booleans become such.
func Set(set string, values map[string]any) error { return strvals.ParseInto(set, values) }

// SetText puts the values of one --set into values, each as text.
func SetText(set string, values map[string]any) error { return strvals.ParseIntoString(set, values) }
