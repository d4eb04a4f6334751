package leftovers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// A server of the cluster is a control plane unless it is something else for certain.
func TestControlPlanes(t *testing.T) {
	const described = "Created by cluster-api-provider-openstack cluster "
	type resources = []openstack.Resource
	inSecurityGroups := func(server string, roles ...string) resources {
		all := resources{project.Resource(openstack.KindServer, server, project.Tagged("ns-a"))}
		for _, role := range roles {
			group := "k8s-cluster-ns-a-secgroup-" + role
			all = append(all, project.Resource(openstack.KindSecurityGroup, group),
				project.Resource(openstack.KindPort, server+"-"+role, project.PartOf(openstack.KindServer, server),
					project.Uses(openstack.KindSecurityGroup, group)))
		}
		return all
	}
	inGroup := func(server, group string) resources {
		return resources{project.Resource(openstack.KindServer, server, project.Uses(openstack.KindServerGroup, group)),
			project.Resource(openstack.KindServerGroup, group)}
	}
	known := provider.Roles{ControlPlanes: []string{"a-cp-old"}, Workers: []string{"a-md-old", "a-both"}}
	for name, tc := range map[string]struct {
		there resources
		want  string
	}{
		"nothing":                       {},
		"the tag alone":                 {project.Cluster("a", false)[:1], "a-cp-x"},
		"the security group":            {inSecurityGroups("x", "controlplane"), "x"},
		"that of workers":               {inSecurityGroups("x", "worker"), ""},
		"both":                          {inSecurityGroups("x", "worker", "controlplane"), "x"},
		"a bastion":                     {inSecurityGroups("a-bastion", "bastion"), ""},
		"the server group":              {inGroup("x", "ns-a-control-plane"), "x"},
		"that of workers only":          {inGroup("x", "ns-a-workers"), ""},
		"a worker in the backup":        {inSecurityGroups("a-md-old"), ""},
		"marked as a control plane too": {inSecurityGroups("a-both", "controlplane"), "a-both"},
		"no mark, in the backup": {resources{project.Resource(openstack.KindServer, "a-cp-old")},
			"a-cp-old"},
		"of another cluster by its tag, in the backup": {resources{project.Resource(openstack.KindServer, "a-cp-old",
			project.Tagged("ns-b"))}, "a-cp-old"},
		"in the backup, and marked as a worker": {inSecurityGroups("a-cp-old", "worker"), "a-cp-old"},
		"no mark, a worker in the backup":       {resources{project.Resource(openstack.KindServer, "a-md-old")}, ""},
		"another cluster's": {resources{project.Resource(openstack.KindServer, "a-cp-y",
			project.Tagged("ns-a-b"))}, ""},
		"of another project": {resources{project.Resource(openstack.KindServer, "a-cp-old",
			project.OfProject("other"))}, ""},
		"of an unknown namespace, next to a proven one": {append(project.Cluster("a", false)[:1],
			project.Resource(openstack.KindServer, "a-cp-z"), project.Resource(openstack.KindPort, "a-cp-z-0",
				project.Described(described+"a"), project.PartOf(openstack.KindServer, "a-cp-z"))), "a-cp-x a-cp-z"},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			has := openstack.Inventory{Project: project.ID, Resources: tc.there}
			for _, r := range target.ControlPlanes(has, known) {
				names = append(names, r.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
