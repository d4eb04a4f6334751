package environment

import (
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/helm"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// rendering is what the chart renders in one phase. An environment keeps it: one rendering takes 50 ms.
type rendering struct {
	objects []*unstructured.Unstructured
	named   map[string]string // the results of namedTemplates, by name
}

// namedTemplates are the chart's named templates that cluster-init reads, without the chart's prefix.
func namedTemplates() []string {
	return []string{"controllerNoProxy", "dockerConfig", "keepsAddress", "managesAddress", "needsDockerSocket",
		"warnings"}
}

const namedFolder = "templates/named"

// reading returns the chart with templates that return the results of its named templates.
func reading(chart *helm.Chart, names ...string) *helm.Chart {
	for _, name := range names {
		chart = chart.With(path.Join(namedFolder, name), fmt.Sprintf(`{{ include "telco-cloud-init.%s" . }}`, name))
	}
	return chart
}

// renderAll renders all phases of the environment, and the named templates in them.
func (e *Environment) renderAll() (map[Phase]rendering, error) {
	all := map[Phase]rendering{}
	chart := reading(e.chart, namedTemplates()...)
	for _, phase := range e.phases() {
		r, err := e.render(phase, chart, e.given(phase))
		if err != nil {
			return nil, err
		}
		all[phase] = r
	}
	return all, nil
}

func (e *Environment) render(phase Phase, chart *helm.Chart, given map[string]any) (rendering, error) {
	files, err := chart.Render(e.release(phase), given)
	if err != nil {
		return rendering{}, fault.Join(e.explain(phase, err)...)
	}
	r := rendering{named: map[string]string{}}
	for _, name := range sortedKeys(files) {
		if folder, file := path.Split(name); strings.HasSuffix(folder, namedFolder+"/") {
			r.named[file] = strings.TrimSpace(files[name])
		}
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, document := range unpack.Documents(files[name]) {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				return rendering{}, fault.Wrap(
					fmt.Errorf("the chart renders invalid YAML for %s in phase %s: %w", name, phase, err),
					fault.ValuesInvalid, "Find the value that needs quotes.")
			}
			if len(object) > 0 {
				r.objects = append(r.objects, &unstructured.Unstructured{Object: object})
			}
		}
	}
	return r, checkUnique(r.objects)
}

// renderTemplate returns the result of one of namedTemplates.
func (e *Environment) renderTemplate(phase Phase, name string) (string, error) {
	if text, kept := e.rendered[phase].named[name]; kept {
		return text, nil
	}
	r, err := e.render(phase, reading(e.chart.Only(isNamedTemplates), name), e.given(phase))
	if err != nil {
		return "", fmt.Errorf("read %s from chart %s: %w", name, ReleaseName, err)
	}
	return r.named[name], nil
}

// isNamedTemplates reports whether a file of the chart only defines templates for others.
func isNamedTemplates(file string) bool { return strings.HasSuffix(file, ".tpl") }
