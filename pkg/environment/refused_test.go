package environment_test

import (
	"cmp"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// refusedValue is a value that an environment does not take. The environment is kubeadm-capd, unless another is named.
type refusedValue struct{ environment, set, message string }

// refuses sees that each value below a path is refused by its message, before anything is created.
func refuses(t *testing.T, path string, values map[string]refusedValue) {
	t.Helper()
	for name, r := range values {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: cmp.Or(r.environment, "kubeadm-capd"),
				Content: clusterinit.Content(), Variables: variables(allVariables()), Sets: []string{path + r.set}})
			if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), r.message) {
				t.Errorf("%v, want %q", err, r.message)
			}
		})
	}
}
