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

// NoProxy are the addresses that are reached without a proxy, with commas between them: those of the user, and all in and around the
// bootstrap cluster and the management cluster. The chart's template telco-cloud-init.noProxy computes the list, for everybody; it is
// the same in both clusters. It is empty for an environment that was loaded for its names only.
func (e *Environment) NoProxy() string { return e.noProxy }

// accept validates the settled values, and reads what only valid values have.
func (e *Environment) accept() error {
	if err := e.validate(); err != nil || e.namesOnly {
		return err
	}
	var err error
	e.noProxy, err = e.renderNoProxy()
	return err
}

func (e *Environment) renderNoProxy() (string, error) {
	alone := *e.chart
	alone.Templates = []*chart.File{{Name: "templates/" + noProxyTemplate, Data: []byte(`{{ include "telco-cloud-init.noProxy" . }}`)}}
	for _, template := range e.chart.Templates {
		if strings.HasSuffix(template.Name, ".tpl") {
			alone.Templates = append(alone.Templates, template)
		}
	}
	values, err := chartutil.ToRenderValuesWithSchemaValidation(&alone, e.given(Management), release(), chartutil.DefaultCapabilities, true)
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
