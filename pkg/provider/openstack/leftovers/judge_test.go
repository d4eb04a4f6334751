package leftovers_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

const (
	net      = "k8s-clusterapi-cluster-ns-a"
	topology = "subnet/" + net + " network/" + net
	routing  = "router/" + net + " router-interface/ns-a"
)

var target = leftovers.Cluster{Namespace: "ns", Name: "a"}

func look(t *testing.T, of leftovers.Cluster, cloud *project.Cloud) provider.Found {
	t.Helper()
	found, err := leftovers.Project{Cloud: cloud, Cluster: of}.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func ids(items []provider.Leftover) []string {
	list := []string{}
	for _, i := range items {
		list = append(list, i.ID)
	}
	slices.Sort(list)
	return list
}

func fields(text string) []string {
	list := strings.Fields(text)
	slices.Sort(list)
	return list
}

// Of clusters whose names begin like each other's, each finds its own, with tags and without.
func TestNamesThatBeginAlike(t *testing.T) {
	for _, bare := range []bool{false, true} {
		var everything []openstack.Resource
		for _, name := range []string{"a", "a-b", "a-b-c"} {
			everything = append(everything, project.Cluster(name, bare)...)
		}
		for _, name := range []string{"a", "a-b", "a-b-c"} {
			plan := look(t, leftovers.Cluster{Namespace: "ns", Name: name}, &project.Cloud{Resources: everything})
			if got, want := ids(plan.Delete), project.IDs(project.Cluster(name, bare)); !slices.Equal(got, want) ||
				len(plan.Stays) > 0 {
				t.Errorf("%s, bare %v: deletes %v\nwant %v\nstays %v", name, bare, got, want, plan.Stays)
			}
			if name == "a" && len(plan.LeftAlone) != 2*len(project.Cluster("a", bare)) {
				t.Errorf("left alone: %v", ids(plan.LeftAlone))
			}
			for _, i := range plan.LeftAlone {
				if i.Proof == "" {
					t.Errorf("%s is left alone without a reason", i.ID)
				}
			}
		}
	}
}

// What one more resource in the project changes for cluster a.
func TestJudge(t *testing.T) {
	type resources = []openstack.Resource
	port := func(name string, with ...func(*openstack.Resource)) openstack.Resource {
		on := []func(*openstack.Resource){project.Uses(openstack.KindNetwork, net),
			project.Uses(openstack.KindSubnet, net), project.Uses(openstack.KindInterface, "ns-a")}
		return project.Resource(openstack.KindPort, name, append(on, with...)...)
	}
	server := "a-cp-x"
	for name, tc := range map[string]struct {
		more   resources
		also   string // is deleted besides the cluster
		stays  string
		left   string
		reason string // part of the reason of each that stays, or else is left alone
		router string // that the environment names
	}{
		"nothing": {},
		"a user's server on the network": {
			more: resources{project.Resource(openstack.KindServer, "jump", project.Uses(openstack.KindPort, "jump")),
				port("jump", project.PartOf(openstack.KindServer, "jump"))},
			stays: topology + " " + routing, left: "port/jump server/jump",
			reason: "port jump of server jump, which is not the cluster's, uses it"},
		"a user's VIP": {
			more: resources{port("vip")}, stays: topology + " " + routing, left: "port/vip",
			reason: "port vip, which is not the cluster's"},
		"a port of another project on the network": {
			more: resources{port("theirs", project.OfProject("other"), project.Tagged("ns-a"))}, stays: topology + " " +
				routing, left: "port/theirs", reason: "port theirs"},
		"a user's subnet on the network, which would go with it": {
			more:  resources{project.Resource(openstack.KindSubnet, "users", project.Uses(openstack.KindNetwork, net))},
			stays: "network/" + net, left: "subnet/users", reason: "subnet users"},
		"a user's subnet on the router": {
			more: resources{project.Resource(openstack.KindSubnet, "users"), project.Resource(openstack.KindInterface,
				"users", project.PartOf(openstack.KindRouter, net), project.Uses(openstack.KindRouter, net),
				project.Uses(openstack.KindSubnet, "users"))},
			stays: "router/" + net, left: "router-interface/users", reason: "router-interface users of router " + net},
		"the network on a user's router": {
			more: resources{project.Resource(openstack.KindRouter, "users"), project.Resource(openstack.KindInterface,
				"users", project.PartOf(openstack.KindRouter, "users"), project.Uses(openstack.KindRouter, "users"),
				project.Uses(openstack.KindSubnet, net), project.Uses(openstack.KindNetwork, net))},
			stays: topology, left: "router-interface/users", reason: "router-interface users of router users"},
		"the network on the user's router that the environment names": {
			more: resources{project.Resource(openstack.KindRouter, "users"), project.Resource(openstack.KindInterface,
				"users", project.PartOf(openstack.KindRouter, "users"), project.Uses(openstack.KindRouter, "users"),
				project.Uses(openstack.KindSubnet, net), project.Uses(openstack.KindNetwork, net)),
				project.Resource(openstack.KindSubnet, "office"), project.Resource(openstack.KindInterface, "office",
					project.PartOf(openstack.KindRouter, "users"), project.Uses(openstack.KindRouter, "users"),
					project.Uses(openstack.KindSubnet, "office"))},
			router: "users", also: "router-interface/users"},
		"a user's port there": {
			more: resources{project.Resource(openstack.KindRouter, "users"), project.Resource(openstack.KindInterface,
				"users", project.PartOf(openstack.KindRouter, "users"), project.Uses(openstack.KindRouter, "users"),
				project.Uses(openstack.KindSubnet, net), project.Uses(openstack.KindNetwork, net)),
				port("vip", project.Uses(openstack.KindInterface, "users"))},
			router: "router/users", stays: topology + " " + routing + " router-interface/users", left: "port/vip",
			reason: "port vip"},
		"a cluster that is called as this one is with its namespace": {
			more: resources{project.Resource(openstack.KindPort, "ns-a-md-q-0",
				project.Described("Created by cluster-api-provider-openstack cluster ns-a")),
				project.Resource(openstack.KindVolume, "ns-a-md-q-root",
					project.Described("Root volume for ns-a-md-q")),
				project.Resource(openstack.KindTrunk, "ns-a-md-q-0",
					project.Described("Created by cluster-api-provider-openstack cluster ns-a"))},
			left: "port/ns-a-md-q-0 volume/ns-a-md-q-root trunk/ns-a-md-q-0", reason: "nothing proves"},
		"an abandoned port without a tag on a user's network": {
			more: resources{project.Resource(openstack.KindPort, "a-md-y-0",
				project.Described("Created by cluster-api-provider-openstack cluster a"),
				project.Uses(openstack.KindNetwork, "users"), project.Uses(openstack.KindSecurityGroup,
					"k8s-cluster-ns-a-secgroup-worker"))},
			also: "port/a-md-y-0"},
		"a port that Octavia makes for itself": {
			more: resources{port("octavia-lb-vrrp-1", project.OfProject("service")),
				project.Resource(openstack.KindLoadBalancer, "kube_service_ns-a_default_web")},
			also: "load-balancer/kube_service_ns-a_default_web", left: "port/octavia-lb-vrrp-1",
			reason: "uses network"},
		"a user's rule that names a security group": {
			more: resources{project.Resource(openstack.KindSecurityGroup, "users",
				project.Uses(openstack.KindSecurityGroup, "k8s-cluster-ns-a-secgroup-worker"))},
			stays: "security-group/k8s-cluster-ns-a-secgroup-controlplane " +
				"security-group/k8s-cluster-ns-a-secgroup-worker",
			left:   "security-group/users",
			reason: "security-group users"},
		"a user's port in a security group": {
			more: resources{project.Resource(openstack.KindPort, "users", project.Uses(openstack.KindSecurityGroup,
				"k8s-cluster-ns-a-secgroup-worker"))},
			stays: "security-group/k8s-cluster-ns-a-secgroup-controlplane " +
				"security-group/k8s-cluster-ns-a-secgroup-worker",
			left:   "port/users",
			reason: "port users"},
		"a user's server in the server group": {
			more: resources{project.Resource(openstack.KindServer, "users",
				project.Uses(openstack.KindServerGroup, "ns-a-control-plane"))},
			stays: "server-group/ns-a-control-plane", left: "server/users", reason: "server users"},
		"a user's floating IP at the cluster's server": {
			more: resources{project.Resource(openstack.KindFloatingIP, "203.0.113.9",
				project.Uses(openstack.KindPort, server+"-0"), project.Uses(openstack.KindInterface, "ns-a"))},
			left: "floating-ip/203.0.113.9", reason: "uses port"},
		"floating IPs without an owner and of a service": {
			more: resources{project.Resource(openstack.KindFloatingIP, "1"), project.Resource(openstack.KindFloatingIP,
				"2", project.Described("Floating IP for Kubernetes external service default/web from cluster ns-a")),
				project.Resource(openstack.KindFloatingIP, "3",
					project.Described("Floating IP for Kubernetes external service default/web from cluster ns-a-b"))},
			also: "floating-ip/2", left: "floating-ip/3", reason: "that of cluster ns-a-b"},
		"the address of the API server, before its tag": {
			more: resources{project.Resource(openstack.KindFloatingIP, "1",
				project.Described("Created by cluster-init for the API server of cluster ns-a")),
				project.Resource(openstack.KindFloatingIP, "2",
					project.Described("Created by cluster-init for the API server of cluster ns-a-b"))},
			also: "floating-ip/1", left: "floating-ip/2", reason: "that of cluster ns-a-b"},
		"the virtual address of the API server, before its tag, and one of the user's in the same network": {
			more: resources{project.Resource(openstack.KindPort, "1", project.Uses(openstack.KindNetwork, "users"),
				project.Described("Created by cluster-init for the API server of cluster ns-a")),
				project.Resource(openstack.KindPort, "2", project.Uses(openstack.KindNetwork, "users"),
					project.Described("Created by cluster-init for the API server of cluster ns-a-b")),
				project.Resource(openstack.KindPort, "3", project.Uses(openstack.KindNetwork, "users")),
				project.Resource(openstack.KindNetwork, "users")},
			also: "port/1", left: "port/2", reason: "that of cluster ns-a-b"},
		"the address of the API server, at the server of another cluster": {
			more: resources{project.Resource(openstack.KindFloatingIP, "1",
				project.Uses(openstack.KindPort, "b-cp-x-0"), project.Described("Created by cluster-init for the API server of cluster ns-a")),
				project.Resource(openstack.KindServer, "b-cp-x"), project.Resource(openstack.KindPort, "b-cp-x-0",
					project.PartOf(openstack.KindServer, "b-cp-x"))},
			stays: "floating-ip/1", reason: "of server b-cp-x, which is not the cluster's, has it"},
		"volumes without an owner": {
			more: resources{project.Resource(openstack.KindVolume, ""),
				project.Resource(openstack.KindVolume, "backup"), project.Resource(openstack.KindVolume, "a-data"),
				project.Resource(openstack.KindVolume, server+"-root2")},
			left: "volume/a-data volume/" + server + "-root2", reason: "nothing proves"},
		"a volume that a user gave to the cluster's server": {
			more: resources{project.Resource(openstack.KindServer, "a-cp-y", project.Tagged("ns-a"),
				project.Uses(openstack.KindVolume, "data")), project.Resource(openstack.KindVolume, "data")},
			also: "server/a-cp-y", left: "volume/data", reason: "server a-cp-y uses it"},
		"a volume that the cluster's server takes along": {
			more: resources{project.Resource(openstack.KindServer, "a-cp-y", project.Tagged("ns-a"),
				project.Uses(openstack.KindVolume, "data")), project.Resource(openstack.KindVolume, "data",
				project.PartOf(openstack.KindServer, "a-cp-y"))},
			also: "server/a-cp-y volume/data"},
		"a volume of another cluster that the cluster's server would take along": {
			more: resources{project.Resource(openstack.KindServer, "a-cp-y", project.Tagged("ns-a"),
				project.Uses(openstack.KindVolume, "data")), project.Resource(openstack.KindVolume, "data",
				project.Property("ns-a-b"), project.PartOf(openstack.KindServer, "a-cp-y"))},
			stays: "server/a-cp-y", left: "volume/data", reason: "would be deleted with it"},
		"volumes and snapshots of the CSI driver": {
			more: resources{project.Resource(openstack.KindVolume, "pvc-1", project.Property("ns-a")),
				project.Resource(openstack.KindVolume, "pvc-2", project.Property("ns-a-b")),
				project.Resource(openstack.KindVolume, "pvc-3", project.Property("kubernetes")),
				project.Resource(openstack.KindSnapshot, "s", project.Property("ns-a"),
					project.Uses(openstack.KindVolume, "pvc-1"))},
			also: "volume/pvc-1 volume-snapshot/s", left: "volume/pvc-2", reason: "that of cluster ns-a-b"},
		"a user's snapshot of a volume": {
			more: resources{project.Resource(openstack.KindVolume, "pvc-1", project.Property("ns-a")),
				project.Resource(openstack.KindSnapshot, "users", project.Uses(openstack.KindVolume, "pvc-1"))},
			stays: "volume/pvc-1", left: "volume-snapshot/users", reason: "volume-snapshot users"},
		"a CSI volume at a user's server": {
			more: resources{project.Resource(openstack.KindVolume, "pvc-1", project.Property("ns-a")),
				project.Resource(openstack.KindServer, "users", project.Uses(openstack.KindVolume, "pvc-1"))},
			stays: "volume/pvc-1", left: "server/users", reason: "server users"},
		"a root volume whose server is gone, known by the port": {
			more: resources{port("a-md-y-0", project.Tagged("ns-a")),
				project.Resource(openstack.KindVolume, "a-md-y-root", project.Described("Root volume for a-md-y")),
				project.Resource(openstack.KindVolume, "a-md-y-etcd",
					project.Described("Additional block device for a-md-y")),
				project.Resource(openstack.KindVolume, "a-md-z-root", project.Described("Root volume for a-md-z"))},
			also: "port/a-md-y-0 volume/a-md-y-root volume/a-md-y-etcd", left: "volume/a-md-z-root",
			reason: "nothing proves"},
		"a root volume whose server's name another server has too": {
			more: resources{port("a-md-y-0", project.Tagged("ns-a")), project.Resource(openstack.KindServer, "a-md-y"),
				project.Resource(openstack.KindVolume, "a-md-y-root", project.Described("Root volume for a-md-y"))},
			also: "port/a-md-y-0", left: "server/a-md-y volume/a-md-y-root", reason: "nothing proves"},
		"an abandoned port without a tag": {
			more: resources{port("a-md-y-0", project.Described("Created by cluster-api-provider-openstack cluster a"))},
			also: "port/a-md-y-0"},
		"such a port on another network": {
			more: resources{project.Resource(openstack.KindPort, "a-md-y-0",
				project.Described("Created by cluster-api-provider-openstack cluster a"),
				project.Uses(openstack.KindNetwork, "other"))}, left: "port/a-md-y-0", reason: "nothing proves"},
		"such a port, by another name": {
			more:  resources{port("vip", project.Described("Created by cluster-api-provider-openstack cluster a"))},
			stays: topology + " " + routing, left: "port/vip", reason: "port vip"},
		"a port of the cluster at a user's server": {
			more: resources{port("a-md-y-0", project.Tagged("ns-a"), project.PartOf(openstack.KindServer, "users")),
				project.Resource(openstack.KindServer, "users", project.Uses(openstack.KindPort, "a-md-y-0"))},
			stays: "port/a-md-y-0 " + topology + " " + routing, left: "server/users", reason: "server users"},
		"a port with the tags of two clusters": {
			more: resources{project.Resource(openstack.KindPort, "shared", project.Tagged("ns-a"),
				project.Tagged("ns-a-b"))}, left: "port/shared", reason: "that of cluster ns-a-b"},
		"a trunk on the cluster's port": {
			more: resources{project.Resource(openstack.KindTrunk, "t", project.PartOf(openstack.KindPort, server+"-0"),
				project.Uses(openstack.KindPort, server+"-0"))}, also: "trunk/t"},
		"load balancers": {
			more: resources{
				project.Resource(openstack.KindLoadBalancer, "k8s-clusterapi-cluster-ns-a-kubeapi",
					project.Uses(openstack.KindPort, "vip")),
				port("vip", project.PartOf(openstack.KindLoadBalancer, "k8s-clusterapi-cluster-ns-a-kubeapi")),
				project.Resource(openstack.KindLoadBalancer, "kube_service_ns-a_default_web"),
				project.Resource(openstack.KindLoadBalancer, "kube_service_ns-a-b_default_web"),
				project.Resource(openstack.KindLoadBalancer, "k8s-clusterapi-cluster-ns-a-b-kubeapi"),
				project.Resource(openstack.KindLoadBalancer, "given",
					project.Described("Kubernetes external service default/x from cluster ns-a")),
				project.Resource(openstack.KindLoadBalancer, "given-b",
					project.Described("Kubernetes external service default/x from cluster ns-a-b"))},
			also: "load-balancer/k8s-clusterapi-cluster-ns-a-kubeapi port/vip " +
				"load-balancer/kube_service_ns-a_default_web load-balancer/given",
			left: "load-balancer/kube_service_ns-a-b_default_web load-balancer/k8s-clusterapi-cluster-ns-a-b-kubeapi " +
				"load-balancer/given-b"},
		"a load balancer that services of two clusters share": {
			more: resources{project.Resource(openstack.KindLoadBalancer, "kube_service_ns-a_default_web",
				project.Tag("kube_service_ns-a_default_web"), project.Tag("kube_service_ns-b_default_web"))},
			left: "load-balancer/kube_service_ns-a_default_web", reason: "that of cluster ns-b"},
		"a user's load balancer on the network": {
			more: resources{project.Resource(openstack.KindLoadBalancer, "users",
				project.Uses(openstack.KindPort, "vip")),
				port("vip", project.PartOf(openstack.KindLoadBalancer, "users"))},
			stays: topology + " " + routing, left: "port/vip", reason: "port vip of load-balancer users"},
		"the security group of a load balancer": {
			more: resources{project.Resource(openstack.KindSecurityGroup, "lb-sg-1",
				project.Described("Security Group for default/web Service LoadBalancer in cluster ns-a")),
				project.Resource(openstack.KindSecurityGroup, "lb-sg-2",
					project.Described("Security Group for default/web Service LoadBalancer in cluster ns-a-b"))},
			also: "security-group/lb-sg-1", left: "security-group/lb-sg-2", reason: "that of cluster ns-a-b"},
		"a server by its name only": {
			more: resources{project.Resource(openstack.KindServer, "a-md-y")}, left: "server/a-md-y",
			reason: "nothing proves"},
		"what has nothing to do with it": {
			more: resources{project.Resource(openstack.KindNetwork, "net"),
				project.Resource(openstack.KindServer, "web"), project.Resource(openstack.KindServer, "b",
					project.Tagged("ns-b"))}},
	} {
		t.Run(name, func(t *testing.T) {
			of := target
			of.Router = tc.router
			plan := look(t, of, &project.Cloud{Resources: append(project.Cluster("a", false), tc.more...)})
			want := slices.DeleteFunc(project.IDs(project.Cluster("a", false)),
				func(id string) bool { return slices.Contains(fields(tc.stays), id) })
			want = append(want, fields(tc.also)...)
			slices.Sort(want)
			if got := ids(plan.Delete); !slices.Equal(got, want) {
				t.Errorf("deletes %v\nwant    %v", got, want)
			}
			if got := ids(plan.Stays); !slices.Equal(got, fields(tc.stays)) {
				t.Errorf("stays %v\nwant  %v", got, fields(tc.stays))
			}
			if got := ids(plan.LeftAlone); !slices.Equal(got, fields(tc.left)) {
				t.Errorf("leaves %v\nwant   %v", got, fields(tc.left))
			}
			reasoned := plan.Stays
			if len(reasoned) == 0 {
				reasoned = plan.LeftAlone
			}
			for _, i := range reasoned {
				if !strings.Contains(i.Proof, tc.reason) {
					t.Errorf("%s: %q does not say %q", i.ID, i.Proof, tc.reason)
				}
			}
			for _, i := range plan.Delete {
				if i.Proof == "" {
					t.Errorf("%s has no proof", i.ID)
				}
			}
		})
	}
}

// Of a kind that could not be listed nothing counts as gone: what might be in use by it stays.
func TestUnknownKinds(t *testing.T) {
	server, root := "server/a-cp-x", "volume/a-cp-x-root"
	port, groups := "port/a-cp-x-0", "security-group/k8s-cluster-ns-a-secgroup-controlplane "+
		"security-group/k8s-cluster-ns-a-secgroup-worker"
	for unknown, stays := range map[openstack.Kind]string{
		openstack.KindServer: "floating-ip/203.0.113.a " + root + " " + port + " server-group/ns-a-control-plane " + groups + " " + topology +
			" " + routing,
		openstack.KindVolume: server + " " + port + " server-group/ns-a-control-plane " + groups + " " +
			topology + " " + routing,
		openstack.KindTrunk:        port + " " + groups + " " + topology + " " + routing,
		openstack.KindLoadBalancer: "",
		openstack.KindPort:         topology + " router/" + net + " " + groups,
		openstack.KindSnapshot:     root + " " + port + " " + groups + " " + topology + " " + routing,
		openstack.KindFloatingIP:   "",
	} {
		t.Run(string(unknown), func(t *testing.T) {
			known := slices.DeleteFunc(project.Cluster("a", false), func(r openstack.Resource) bool {
				return r.Kind == unknown || unknown == openstack.KindPort && r.Kind == openstack.KindInterface
			})
			cloud := &project.Cloud{Resources: known,
				Unknown: map[openstack.Kind]error{unknown: errors.New("listing: 500")}}
			plan := look(t, target, cloud)
			want := slices.DeleteFunc(fields(stays),
				func(id string) bool { return !slices.Contains(project.IDs(known), id) })
			if got := ids(plan.Stays); !slices.Equal(got, want) {
				t.Errorf("stays %v\nwant  %v", got, want)
			}
			if len(plan.Delete)+len(plan.Stays) != len(known) {
				t.Errorf("%d and %d of %d", len(plan.Delete), len(plan.Stays), len(known))
			}
			if len(plan.Unknown) != 1 || plan.Unknown[0].Kind != string(unknown) ||
				plan.Unknown[0].Why.Error() != "listing: 500" {
				t.Errorf("unknown: %v", plan.Unknown)
			}
		})
	}
}
