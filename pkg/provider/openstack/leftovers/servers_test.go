package leftovers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// A definition of the user's own need not have our tag: what else the provider made for the cluster says whose a server
// is. No name says it that only begins like the cluster's.
func TestServers(t *testing.T) {
	const described = "Created by cluster-api-provider-openstack cluster "
	type resources = []openstack.Resource
	// on is a server with a port, as the provider makes them. with is for the port.
	on := func(server string, with ...func(*openstack.Resource)) resources {
		return resources{project.Resource(openstack.KindServer, server, project.Uses(openstack.KindPort, server+"-0")),
			project.Resource(openstack.KindPort, server+"-0",
				append(with, project.PartOf(openstack.KindServer, server))...)}
	}
	inGroup := func(server, group string) resources {
		return resources{project.Resource(openstack.KindServer, server, project.Uses(openstack.KindServerGroup, group)),
			project.Resource(openstack.KindServerGroup, group)}
	}
	ofNetwork := func(name string) func(*openstack.Resource) { return project.Uses(openstack.KindNetwork, name) }
	with := func(r resources, more ...openstack.Resource) resources { return append(r, more...) }
	network := func(name string, with ...func(*openstack.Resource)) openstack.Resource {
		return project.Resource(openstack.KindNetwork, name, with...)
	}
	secgroup := func(cluster string) openstack.Resource {
		return project.Resource(openstack.KindSecurityGroup, "k8s-cluster-"+cluster+"-secgroup-worker")
	}
	for name, tc := range map[string]struct {
		there  resources
		want   string // names
		unsure string // the server of which it cannot be known
	}{
		"nothing": {},
		"the tag": {there: resources{project.Resource(openstack.KindServer, "x",
			project.Tagged("ns-a"))}, want: "x"},
		"another cluster's tag": {there: resources{project.Resource(openstack.KindServer, "a-cp",
			project.Tagged("ns-a-b"))}},
		"a name alone":       {there: resources{project.Resource(openstack.KindServer, "a-jump-host")}},
		"its port is tagged": {there: on("a-cp", project.Tagged("ns-a")), want: "a-cp"},
		"on the cluster's network": {there: with(on("a-cp", project.Described(described+"a"), ofNetwork(net)),
			network(net)), want: "a-cp"},
		"a user's on it": {there: with(on("a-jump", ofNetwork(net)), network(net))},
		"on a tagged network": {there: with(on("a-cp", project.Described(described+"a"), ofNetwork("n")),
			network("n", project.Tagged("ns-a"))), want: "a-cp"},
		"of the cluster's security group, on a user's network": {
			there: with(on("a-md", project.Described(described+"a"), ofNetwork("n"),
				project.Uses(openstack.KindSecurityGroup, "k8s-cluster-ns-a-secgroup-worker")), network("n"),
				secgroup("ns-a")), want: "a-md"},
		"the floating IP of the API server is the cluster's": {
			there: with(on("a-cp", ofNetwork("n")), network("n"), project.Resource(openstack.KindFloatingIP, "f",
				project.Described(described+"ns-a"), project.Uses(openstack.KindPort, "a-cp-0"))), want: "a-cp"},
		"of its server group":       {there: inGroup("y", "ns-a-control-plane"), want: "y"},
		"of another's server group": {there: inGroup("a-b-y", "ns-a-b-control-plane")},
		"of a cluster whose name begins so": {
			there: with(on("a-b-cp", project.Described(described+"a-b"), ofNetwork("k8s-clusterapi-cluster-ns-a-b")),
				network("k8s-clusterapi-cluster-ns-a-b"))},
		"of a cluster of that name in another namespace": {
			there: with(on("a-cp", project.Described(described+"a"), ofNetwork("k8s-clusterapi-cluster-other-a")),
				network("k8s-clusterapi-cluster-other-a"))},
		"of such a one, by its security group": {
			there: with(on("a-cp", project.Described(described+"a"), ofNetwork("n"),
				project.Uses(openstack.KindSecurityGroup, "k8s-cluster-other-a-secgroup-worker")), network("n"),
				secgroup("other-a"))},
		"of such a one, by the tag of its network": {
			there: with(on("a-cp", project.Described(described+"a"), ofNetwork("n")),
				network("n", project.Tagged("other-a")))},
		"on a user's network, of a cluster of that name in any namespace": {
			there: with(on("a-cp", project.Described(described+"a"), ofNetwork("n")), network("n")), unsure: "a-cp"},
		"such a one and a proven one": {
			there: append(with(on("a-cp", project.Described(described+"a"), ofNetwork("n")), network("n")),
				project.Resource(openstack.KindServer, "x", project.Tagged("ns-a"))), want: "x"},
		"of another namespace, with a port on a user's network too": {
			there: append(with(on("a-cp", project.Described(described+"a"), ofNetwork("n")), network("n"),
				network("k8s-clusterapi-cluster-other-a")),
				project.Resource(openstack.KindPort, "a-cp-1", project.Described(described+"a"),
					project.PartOf(openstack.KindServer, "a-cp"), ofNetwork("k8s-clusterapi-cluster-other-a")))},
		"of another project, in a server group that can be seen": {there: resources{project.Resource(
			openstack.KindServer, "y", project.OfProject("other"),
			project.Uses(openstack.KindServerGroup, "ns-a-workers")),
			project.Resource(openstack.KindServerGroup, "ns-a-workers")}},
		"of another project": {there: resources{project.Resource(openstack.KindServer, "x", project.Tagged("ns-a"),
			project.OfProject("other"))}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := target.Servers(openstack.Inventory{Project: project.ID, Resources: tc.there})
			var names []string
			for _, r := range got {
				names = append(names, r.Name)
			}
			if strings.Join(names, " ") != tc.want {
				t.Errorf("%v, want %q", names, tc.want)
			}
			unsure := fault.CodeOf(err) == fault.ClusterUnreachable &&
				strings.Contains(err.Error(), "server "+tc.unsure+" may be a machine of ns/a") &&
				strings.Contains(fault.HintOf(err), "server set --tag cluster-init:cluster=ns-a "+tc.unsure)
			if (tc.unsure != "") != unsure || tc.unsure == "" && err != nil {
				t.Errorf("%v, hint %q", err, fault.HintOf(err))
			}
		})
	}
}

// Of clusters whose names begin like each other's, each finds its own servers, though none is tagged.
func TestServersOfNamesThatBeginAlike(t *testing.T) {
	var everything []openstack.Resource
	for _, name := range []string{"a", "a-b", "a-b-c"} {
		for _, r := range project.Cluster(name, true) {
			r.Tags = nil
			everything = append(everything, r)
		}
	}
	for _, name := range []string{"a", "a-b", "a-b-c"} {
		got, err := leftovers.Cluster{Namespace: "ns", Name: name}.Servers(
			openstack.Inventory{Project: project.ID, Resources: everything})
		if err != nil || !slices.Equal(project.IDs(got), []string{"server/" + name + "-cp-x"}) {
			t.Errorf("%s: %v, %v", name, project.IDs(got), err)
		}
	}
}
