// Package helm loads, renders and packs charts as Helm 3 does. The rest of the program does not import
// helm.sh/helm/v3, so that another engine changes one package. It asks no cluster and fetches nothing.
package helm

import (
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// Chart is a chart in memory. It never changes.
type Chart struct {
	loaded *chart.Chart
}

// Release is what templates see of their release.
type Release struct {
	Name, Namespace string
}

// Load reads a chart from the content of its files, by their paths below the folder of the chart. It refuses a chart
// that Helm would refuse.
func Load(files map[string][]byte) (*Chart, error) {
	buffered := make([]*loader.BufferedFile, 0, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		buffered = append(buffered, &loader.BufferedFile{Name: name, Data: files[name]})
	}
	loaded, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, err
	}
	return &Chart{loaded}, nil
}

// Name returns the name of the chart.
func (c *Chart) Name() string { return c.loaded.Metadata.Name }

// Version returns the version of the chart, a semantic version.
func (c *Chart) Version() string { return c.loaded.Metadata.Version }

// Defaults returns the chart's values.yaml. The caller must not change it.
func (c *Chart) Defaults() map[string]any { return c.loaded.Values }

// Schema returns the JSON schema of the values; empty if the chart has none.
func (c *Chart) Schema() []byte { return c.loaded.Schema }

// Only returns the chart with those of its templates whose path keep accepts, such as templates/_names.tpl.
func (c *Chart) Only(keep func(template string) bool) *Chart {
	some := *c.loaded
	some.Templates = nil
	for _, template := range c.loaded.Templates {
		if keep(template.Name) {
			some.Templates = append(some.Templates, template)
		}
	}
	return &Chart{&some}
}

// With returns the chart with one more template at a path.
func (c *Chart) With(template, text string) *Chart {
	more := *c.loaded
	more.Templates = append(slices.Clone(c.loaded.Templates), &chart.File{Name: template, Data: []byte(text)})
	return &Chart{&more}
}

// Values returns the values as templates see them: given, and the chart's defaults below. The result is a copy.
func (c *Chart) Values(given map[string]any) (map[string]any, error) {
	return chartutil.CoalesceValues(c.loaded, given)
}

// Render returns the result of each template, by the path of the template below a folder with the chart's name. A file
// whose name begins with _ has no result. The schema is not checked: Helm would fetch what it refers to.
func (c *Chart) Render(release Release, given map[string]any) (map[string]string, error) {
	options := chartutil.ReleaseOptions{Name: release.Name, Namespace: release.Namespace, Revision: 1, IsInstall: true}
	const skipSchema = true
	values, err := chartutil.ToRenderValuesWithSchemaValidation(c.loaded, given, options,
		chartutil.DefaultCapabilities, skipSchema)
	if err != nil {
		return nil, err
	}
	return engine.Render(c.loaded, values)
}
