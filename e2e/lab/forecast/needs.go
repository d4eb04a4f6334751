package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/plan"
)

// openstackVariables are what the environments on OpenStack read from the shell and have no default for.
var openstackVariables = []string{"OPENSTACK_EXTERNAL_NETWORK", "OPENSTACK_IMAGE_NAME",
	"OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR", "OPENSTACK_NODE_MACHINE_FLAVOR"}

// needs names what an environment on OpenStack needs besides this machine, and which of it the shell does not set.
// The result is empty for other environments.
func needs(environments []string, getenv func(string) string) string {
	at := slices.IndexFunc(environments, func(name string) bool { return plan.Uses([]string{name}, plan.OpenStack) })
	if at < 0 {
		return ""
	}
	name := environments[at]
	text := fmt.Sprintf(`%s needs an OpenStack project (docs/environments/%s.md):
  credentials: OS_CLOUD and a clouds.yaml, or the variables of an openrc file
  variables: %s
  a Git repository or an OCI registry that the servers reach: ARGS="--source git --source-url URL"
`, name, name, strings.Join(openstackVariables, ", "))
	var unset []string
	if getenv("OS_CLOUD") == "" && getenv("OS_AUTH_URL") == "" {
		unset = append(unset, "OS_CLOUD")
	}
	for _, variable := range openstackVariables {
		if getenv(variable) == "" {
			unset = append(unset, variable)
		}
	}
	if len(unset) > 0 {
		text += "  not set in this shell: " + strings.Join(unset, ", ") + "\n"
	}
	return text
}
