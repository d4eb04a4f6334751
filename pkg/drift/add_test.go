package drift

import (
	"errors"
	"strings"
	"testing"
)

// A part whose comparison failed is neither compared nor unchanged.
func TestAPartThatAnErrorEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		part Part
		want string
	}{
		"at once": {Part{Name: "values"}, "Nothing was compared."},
		"later":   {Part{Name: "capi", Same: 2}, "Nothing differs in what could be compared."},
	} {
		t.Run(name, func(t *testing.T) {
			c := Cluster{Name: "management", Error: "timeout"}
			if err := c.add(tc.part, errors.New("timeout")); err == nil {
				t.Error("the error is lost")
			}
			r, text := New("demo"), strings.Builder{}
			r.Clusters = []Cluster{c}
			if err := r.Print(&text); err != nil || !strings.HasSuffix(text.String(), tc.want+"\n") ||
				strings.Contains(text.String(), "unchanged") {
				t.Errorf("%v: %s", err, text.String())
			}
		})
	}
}
