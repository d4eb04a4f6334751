//go:build integration

package environment_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// cluster-init renders the chart with the library of Helm 3, and helm-controller installs it with Helm 4. Both must
// make the same objects of every environment: `check`, `diff` and the template hashes say what helm-controller will do.
func TestHelmControllersEngineRendersTheSame(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // a cold build of helm is most of it
	defer cancel()
	h := newHelm(ctx, t)
	chart := chartOnDisk(t)
	for name, options := range everyEnvironment(t) {
		env := load(t, options)
		for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
			t.Run(name+"/"+string(phase), func(t *testing.T) {
				here, err := env.Render(phase, nil)
				if err != nil {
					t.Fatal(err)
				}
				args := append([]string{"template", environment.ReleaseName, chart, "--set", "phase=" + string(phase)},
					valuesFlags(t, env, phase)...)
				there := parseAll(t, h.run(args...))
				byName := func(a, b *unstructured.Unstructured) int { return strings.Compare(title(a), title(b)) }
				slices.SortFunc(here, byName)
				slices.SortFunc(there, byName)
				if diff := cmp.Diff(plain(here), plain(there)); diff != "" {
					t.Errorf("helm-controller's engine renders another release (-here +there):\n%s", diff)
				}
			})
		}
	}
}

// valuesFlags returns the values as the HelmRelease reads them from its ConfigMaps and Secrets, in its order.
func valuesFlags(t *testing.T, env *environment.Environment, phase environment.Phase) []string {
	t.Helper()
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{[]byte(objects.Values.Data[environment.ValuesKey]), objects.Secrets.Data[environment.ValuesKey],
		objects.InfraSecrets.Data[environment.ValuesKey]}
	if phase == environment.Bootstrap {
		texts = append([][]byte{[]byte(env.PhaseValues(environment.Bootstrap).Data[environment.ValuesKey])}, texts...)
	}
	var flags []string
	for _, text := range texts {
		file := filepath.Join(t.TempDir(), "values.yaml")
		write(t, file, text)
		flags = append(flags, "--values", file)
	}
	return flags
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func parseAll(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for decoder := yaml.NewYAMLToJSONDecoder(strings.NewReader(text)); ; {
		object := map[string]any{}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(object) > 0 {
			all = append(all, &unstructured.Unstructured{Object: object})
		}
	}
}

func title(u *unstructured.Unstructured) string {
	return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
}

// plain returns the objects' content by name.
func plain(objects []*unstructured.Unstructured) map[string]any {
	all := map[string]any{}
	for _, u := range objects {
		all[title(u)] = u.Object
	}
	return all
}
