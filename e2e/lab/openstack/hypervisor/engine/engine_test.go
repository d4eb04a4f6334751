package engine

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
)

const network = "cb94bb3b-9b41-4386-b7b6-cb1041cb7304"

func TestNames(t *testing.T) {
	if got := ContainerName("worker", "0f6e5a30-58e4-457c-8955-fc6246e1cda2"); got != "worker-0f6e5a30" {
		t.Errorf("container %s", got)
	}
	if got := bridgeName(network); got != "os-cb94bb3b9b41" || len(got) > 15 {
		t.Errorf("bridge %s: the kernel takes 15 characters", got)
	}
}

func TestAContainerHasItsServersAddressAndLabels(t *testing.T) {
	e := Engine{Cloud: "http://cloud/v3"}
	args := strings.Join(e.createArgs(hypervisor.Machine{
		Server: "id", Name: "worker", Links: []hypervisor.Link{{Network: network,
			Address: netip.MustParseAddr("10.6.0.5")}},
	}, "worker.host", "worker-id", "image:1"), " ")
	for _, want := range []string{
		"--network openstack-" + network + " --ip 10.6.0.5", "--hostname worker.host", "--name worker-id",
		"--label cluster-init.io/openstack-cloud=http://cloud/v3", "--label cluster-init.io/openstack-server=id",
		"--volume /var ", "--pull never",
	} {
		if !strings.Contains(args, want) {
			t.Errorf("no %q in %s", want, args)
		}
	}
	if !strings.HasSuffix(args, " image:1") {
		t.Errorf("the image is not last: %s", args)
	}
}

func TestAProxyHasItsLoadBalancersAddressAndLabels(t *testing.T) {
	e := Engine{Cloud: "http://cloud/v3", ProxyImage: "image:1"}
	args := strings.Join(e.proxyArgs(hypervisor.Proxy{
		Balancer: "id", Link: hypervisor.Link{Network: network, Address: netip.MustParseAddr("10.6.0.9")},
	}, "api-id"), " ")
	for _, want := range []string{
		"--network openstack-" + network + " --ip 10.6.0.9 image:1 /usr/sbin/haproxy -W ", "--name api-id",
		"--label cluster-init.io/openstack-cloud=http://cloud/v3 ",
		"--label cluster-init.io/openstack-load-balancer=id ", "--pull never",
	} {
		if !strings.Contains(args, want) {
			t.Errorf("no %q in %s", want, args)
		}
	}
}

func TestOnlyOwnRulesAreSeen(t *testing.T) {
	e := Engine{Cloud: "http://198.51.100.1:5000/v3"}
	listed := `-N DOCKER-USER
-A DOCKER-USER -d 203.0.113.7/32 -o os-+ -m comment --comment "cluster-init.io/openstack-cloud=http://198.51.100.1:5000/v3#203.0.113.7" -j ACCEPT
-A DOCKER-USER -i os-+ ! -o os-+ -m comment --comment cluster-init.io/openstack-cloud=http://198.51.100.1:5000/v3#out -j ACCEPT
-A DOCKER-USER -i os-+ -m comment --comment "cluster-init.io/openstack-cloud=http://other:5000/v3#out" -j ACCEPT
-A DOCKER-USER -s 10.0.0.0/8 -m comment --comment "the user's" -j DROP
-A DOCKER-USER -j RETURN
`
	if got := e.ownRules(listed); !slices.Equal(got, []string{"203.0.113.7", "out"}) {
		t.Errorf("got %q", got)
	}
	for rule, want := range map[string]string{
		"203.0.113.7": "-d 203.0.113.7 -o os-+ ", "out": "-i os-+ ! -o os-+ ",
		"answers-in":  "-o os-+ -m conntrack --ctstate RELATED,ESTABLISHED ",
		"answers-out": "-i os-+ -m conntrack --ctstate RELATED,ESTABLISHED ",
	} {
		made := strings.Join(e.rule(rule), " ")
		if !strings.HasPrefix(made, want+"-m comment ") || !slices.Equal(e.ownRules("-A DOCKER-USER "+made),
			[]string{rule}) {
			t.Errorf("rule %s is %s", rule, made)
		}
	}
}

func TestFreeAddress(t *testing.T) {
	subnet := attached{}
	subnet.IPAM.Config = []struct{ Subnet string }{{"10.6.0.0/30"}}
	var taken []netip.Addr
	for _, want := range []string{"10.6.0.2", "10.6.0.1"} {
		got, err := freeAddress(subnet, taken)
		if err != nil || got.String() != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
		taken = append(taken, got)
	}
	if got, err := freeAddress(subnet, taken); err == nil {
		t.Errorf("all are taken, and it gave %s", got)
	}
	if got := lastAddress(netip.MustParsePrefix("10.6.4.0/22")); got.String() != "10.6.7.254" {
		t.Errorf("last address %s", got)
	}
}

func TestFloatingAddressesAreKnownByTheirLabel(t *testing.T) {
	const shown = `[{"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"label":"lo"},
		{"family":"inet","local":"203.0.113.7","prefixlen":32,"label":"lo:floating"},{"family":"inet","local":"10.9.9.9","prefixlen":32,"label":"lo:vip"}]}]`
	got, err := floatingAddresses(shown)
	if err != nil || len(got) != 1 || got[0].String() != "203.0.113.7" {
		t.Errorf("got %v (%v)", got, err)
	}
	if _, err := floatingAddresses("Device \"lo\" does not exist."); err == nil {
		t.Error("nonsense went through")
	}
}
