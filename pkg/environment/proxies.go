package environment

import (
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// noProxyTemplate has the chart say the list that it gives to controllers and machines.
const noProxyTemplate = "no-proxy"

// NoProxy are the addresses that are reached without a proxy from the cluster of a phase, with commas between them: those of the user, and all in and
// around the management cluster, and around the bootstrap cluster in its phase. The chart's template telco-cloud-init.controllerNoProxy computes
// the list, for everybody. It is empty for an environment that was loaded for its names only.
func (e *Environment) NoProxy(phase Phase) string { return e.noProxy[phase] }

// accept validates the settled values, and reads what only valid values have.
func (e *Environment) accept() error {
	if err := e.validate(); err != nil || e.namesOnly {
		return err
	}
	lists := map[Phase]string{}
	for _, phase := range []Phase{Bootstrap, Management} {
		list, err := e.renderNoProxy(phase)
		if err != nil {
			return err
		}
		lists[phase] = list
	}
	e.noProxy = lists
	return nil
}

func (e *Environment) renderNoProxy(phase Phase) (string, error) {
	alone := *e.chart
	alone.Templates = []*chart.File{{Name: "templates/" + noProxyTemplate, Data: []byte(`{{ include "telco-cloud-init.controllerNoProxy" . }}`)}}
	for _, template := range e.chart.Templates {
		if strings.HasSuffix(template.Name, ".tpl") {
			alone.Templates = append(alone.Templates, template)
		}
	}
	values, err := chartutil.ToRenderValuesWithSchemaValidation(&alone, e.given(phase), release(), chartutil.DefaultCapabilities, true)
	if err != nil {
		return "", fmt.Errorf("read no_proxy from chart %s: %w", ReleaseName, err)
	}
	rendered, err := engine.Render(&alone, values)
	if err != nil {
		return "", fmt.Errorf("read no_proxy from chart %s: %w", ReleaseName, err)
	}
	for name, text := range rendered {
		if strings.HasSuffix(name, "/"+noProxyTemplate) {
			return strings.TrimSpace(text), nil
		}
	}
	return "", errors.New("read no_proxy from chart " + ReleaseName + ": it rendered nothing")
}
