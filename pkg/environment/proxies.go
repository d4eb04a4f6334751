package environment

import (
	"slices"
	"strings"
)

// NoProxy are the addresses that the cluster of a phase reaches without a proxy, separated by commas: those of the
// user, and everything in and around the management cluster, and around the bootstrap cluster in its phase. The chart's
// template telco-cloud-init.controllerNoProxy computes the list for all users. It is empty for an environment that was
// loaded for its names only.
func (e *Environment) NoProxy(phase Phase) string { return e.noProxy[phase] }

// accept validates the settled values. Unless only names are needed, it also computes what needs valid values.
func (e *Environment) accept() error {
	if err := e.validate(); err != nil || e.namesOnly {
		return err
	}
	lists := map[Phase]string{}
	for _, phase := range e.phases() {
		list, err := e.renderTemplate(phase, "controllerNoProxy")
		if err != nil {
			return err
		}
		lists[phase] = list
	}
	e.noProxy = lists
	return e.forgetUnusedLogin()
}

// DockerConfig is a ~/.docker/config.json with the logins for image registries. Nil means there is none.
func (e *Environment) DockerConfig() ([]byte, error) {
	text, err := e.renderTemplate(e.lasting(), "dockerConfig")
	if text == "" {
		return nil, err
	}
	return []byte(text), err
}

// Warnings are what the user should know about the requested values, one sentence each, in the order of the chart.
func (e *Environment) Warnings() ([]string, error) {
	var all []string
	for _, phase := range e.phases() {
		text, err := e.renderTemplate(phase, "warnings")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	return all, nil
}
