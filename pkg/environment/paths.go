package environment

import (
	"fmt"
	"slices"
	"strings"
)

// ComponentPaths returns the folders of the content that are published: those of AppliedPaths, and those that the
// environment of a management cluster has for workload clusters. Only what these refer to must be fetched.
func (e *Environment) ComponentPaths() ([]string, error) {
	paths, err := e.AppliedPaths()
	if err != nil || e.workload {
		return paths, err
	}
	further, err := e.workloadPaths()
	if err != nil {
		return nil, err
	}
	for _, path := range further {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// AppliedPaths returns the folders of the content that any phase applies.
func (e *Environment) AppliedPaths() ([]string, error) {
	var paths []string
	for _, phase := range e.phases() {
		components, err := e.Components(phase)
		if err != nil {
			return nil, err
		}
		for _, c := range components {
			// Flux reads others from another repository.
			if c.Source == ReleaseName && !slices.Contains(paths, c.Path) {
				paths = append(paths, c.Path)
			}
		}
	}
	return paths, nil
}

// workloadPaths returns the folders of the components that only workload clusters apply: those that are workload-only,
// and what a second infrastructure provider adds to its clusters. It leaves out a path that is a template: it depends
// on the values of the workload cluster.
func (e *Environment) workloadPaths() ([]string, error) {
	components, _ := e.settled[e.lasting()]["components"].(map[string]any)
	var paths []string
	for _, name := range sortedKeys(components) {
		component, _ := components[name].(map[string]any)
		path, _ := component["path"].(string) // a component with none has a chart or a repository
		if component["enabled"] == "workload-only" && component["repo"] == nil && path != "" &&
			!strings.Contains(path, "{{") {
			paths = append(paths, path)
		}
	}
	clouds, err := e.secondCloudProviders()
	return append(paths, clouds...), err
}

// secondCloudProviders returns the folders of the cloud provider for workload clusters of the infrastructure providers
// that make no machines of the management cluster.
func (e *Environment) secondCloudProviders() ([]string, error) {
	const provider = "{{ .Values.cluster.infra_provider }}"
	value, _ := at(e.settled[e.lasting()], "components.cloud-provider.path")
	path, _ := value.(string)
	if !strings.Contains(path, provider) {
		return nil, nil // a folder of the user's own
	}
	names, err := e.renderTemplate(e.lasting(), "cloudProviders")
	if err != nil {
		return nil, fmt.Errorf("read which providers have a cloud provider from the chart: %w", err)
	}
	var paths []string
	for _, name := range strings.Fields(names) {
		if name != e.InfraProvider() && e.enabled(e.lasting(), name) {
			paths = append(paths, strings.ReplaceAll(path, provider, name))
		}
	}
	return paths, nil
}
