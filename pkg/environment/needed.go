package environment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// checkNeeded refuses an environment without a component that every management cluster needs: `up` would wait for ever.
// It omits what chart, the chart's own error, reports.
func (e *Environment) checkNeeded(chart error) error {
	if e.workload {
		return e.checkNeededByWorkload()
	}
	needed, problems := slices.Concat([]string{"cert-manager"}, e.Providers(), []string{"cluster"}), []error(nil)
	if e.installed { // an existing cluster may have a cert-manager
		needed, problems = e.Providers(), []error{e.checkNoCluster(), e.checkNoBackup()}
	}
	for _, name := range needed {
		if name == "" || chart != nil &&
			strings.Contains(chart.Error(), fmt.Sprintf("depends on %q, which is not enabled", name)) {
			continue
		}
		enabled := "components." + name + ".enabled"
		if _, known := at(e.settled[Management], "components."+name); !known || e.isUnknown(enabled) {
			continue
		}
		where := ""
		inManagement := e.enabled(Management, name)
		switch inBootstrap := e.installed && inManagement || e.enabled(Bootstrap, name); {
		case inBootstrap && inManagement:
			continue
		case inBootstrap:
			where = " in phase management"
		case inManagement:
			where = " in phase bootstrap"
		}
		problems = append(problems, fault.New(fault.ComponentUnknown,
			fmt.Sprintf("%scomponent %q is not enabled%s, and without it there is no management cluster (%s)",
				e.whence(enabled), name, where, enabled),
			fmt.Sprintf("Enable it: --set %s=true. To bring your own in its place, give it another `path` or `repo`.",
				enabled)))
	}
	return fault.Join(problems...)
}

// Providers are the components of Cluster API that make the cluster. A name is empty if a value is not known.
func (e *Environment) Providers() []string {
	bootstrap := map[string]string{"kubeadm": "cabpk", "rke2": "cabpr"}[e.spec.Cluster.BootstrapProvider]
	return []string{"capi", bootstrap, e.InfraProvider()}
}

// checkNeededByWorkload refuses an environment of a workload cluster without the component that defines it.
func (e *Environment) checkNeededByWorkload() error {
	if e.enabled(Workload, "cluster") {
		return nil
	}
	const enabled = "components.cluster.enabled"
	return fault.New(fault.ComponentUnknown, fmt.Sprintf("%scomponent %q is not enabled, and without it there is no "+
		"workload cluster (%s)", e.whence(enabled), "cluster", enabled), "Enable it: --set "+enabled+"=true.")
}

// enabled reports whether a component is enabled in a phase, as the chart's template telco-cloud-init.enabled does.
func (e *Environment) enabled(phase Phase, name string) bool {
	value, _ := at(e.settled[phase], "components."+name+".enabled")
	text := fmt.Sprint(value)
	if phase == Workload {
		part, _ := at(e.settled[phase], "components."+name+".workload")
		if part != true {
			return false
		}
	}
	return text == "true" || text == string(phase)+"-only"
}
