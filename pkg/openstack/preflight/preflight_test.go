package preflight

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

const tag = "cluster-init:cluster=management-kubeadm-capo"

// someNeeds are those of one control plane machine and one worker, which the stand-in has room for.
func someNeeds() Needs {
	return Needs{
		Tag: tag, ControlPlane: Machines{Count: 1, Flavor: "m1.small"}, Workers: Machines{Count: 1, Flavor: "m1.small"},
		Image: "kube", KeyPair: "ada",
		ExternalNetwork: "public",
		Resources: Resources{Servers: 2, Ports: 3, Networks: 1, Subnets: 1, Routers: 1, SecurityGroups: 2,
			FloatingIPs: 1},
	}
}

// volumeNeeds boot from volumes.
func volumeNeeds(n *Needs) {
	n.RootVolume, n.Volumes = RootVolume{GiB: 20, Type: "ssd", Zone: "nova"}, true
	n.Resources.Volumes, n.Resources.Gigabytes = 2, 40
}

func preflight(t *testing.T, s *standin.Cloud, needs Needs) (Report, error) {
	t.Helper()
	c, err := openstack.Connect(t.Context(), s.Credentials(t))
	if err != nil {
		t.Fatal(err)
	}
	return Run(t.Context(), c, needs)
}

func TestPreflight(t *testing.T) {
	answers := func(key string, body standin.Object) func(*standin.Cloud) {
		return func(s *standin.Cloud) { s.Answers[key] = standin.OK(body) }
	}
	quota := func(key, part string, value any) func(*standin.Cloud) {
		return func(s *standin.Cloud) {
			of := s.Answers[key].Object()
			if inner, found := of["limits"].(standin.Object); found {
				of = inner["absolute"].(standin.Object)
			} else {
				of = of["quota"].(standin.Object)
			}
			of[part] = value
		}
	}
	const compute, network, volume = "GET /compute/v2.1/limits", "GET /network/v2.0/quotas/p1/details.json",
		"GET /volume/v3/limits"
	full := func(limit, used int) standin.Object {
		return standin.Object{"limit": limit, "used": used, "reserved": 0}
	}
	image := func(change standin.Object) func(*standin.Cloud) {
		of := standin.Object{"id": standin.ImageID, "name": "kube", "status": "active"}
		for key, value := range change {
			of[key] = value
		}
		return answers("GET /image/v2/images", standin.Object{"images": []standin.Object{of}})
	}
	cases := map[string]struct {
		needs func(*Needs)
		cloud func(*standin.Cloud)
		says  []string // one for each problem
		hints []string
		fails bool // a query fails: the cloud may have what is wanted
	}{
		"all is there": {},
		"volumes too":  {needs: volumeNeeds},
		"ids": {needs: func(n *Needs) {
			n.Image, n.ExternalNetwork = standin.ImageID,
				standin.NetworkID
		}},
		"no limits": {cloud: all3(quota(compute, "maxTotalCores", -1),
			quota(compute, "totalCoresUsed", 999), quota(network, "port", full(-1, 999)))},
		"instances": {cloud: quota(compute, "maxTotalInstances", 2),
			says:  []string{"quota of project telco: instances: 2 wanted, 1 left (1 of 2 used)"},
			hints: []string{"larger quota"}},
		"cores": {cloud: quota(compute, "totalCoresUsed", 3),
			says: []string{"cores: 4 wanted, 3 left"}},
		"memory": {cloud: quota(compute, "maxTotalRAMSize", 4095),
			says: []string{"MiB of memory: 4096 wanted, 4095 left"}},
		"a quota that is overdrawn": {cloud: quota(compute, "totalRAMUsed", 9999),
			says: []string{"0 left (9999 of 6144 used)"}},
		"server groups": {needs: func(n *Needs) {
			n.ServerGroups, n.Resources.ServerGroups = []string{"a"},
				1
		}, cloud: quota(compute, "totalServerGroupsUsed", 10), says: []string{"server groups: 1 wanted, 0 left"}},
		"all quotas of network at once": {cloud: answers(
			network, standin.Object{"quota": standin.Object{"network": full(1, 1), "subnet": full(1, 1),
				"router": full(1, 1), "port": full(3, 0), "floatingip": full(1, 1), "security_group": full(2, 1),
				"security_group_rule": full(15, 0)}}),
			says: []string{"networks: 1 wanted, 0 left", "subnets: 1 wanted, 0 left", "routers: 1 wanted, 0 left",
				"ports: 4 wanted, 3 left", "floating IPs: 1 wanted, 0 left", "security groups: 2 wanted, 1 left",
				"security group rules: 16 wanted, 15 left"}},
		"reserved counts as used": {cloud: quota(network, "port",
			standin.Object{"limit": 5, "used": 0, "reserved": "2"}), says: []string{"ports: 4 wanted, 3 left"}},
		"volumes and gigabytes": {needs: volumeNeeds, cloud: all3(quota(volume, "totalVolumesUsed", 1),
			quota(volume, "totalGigabytesUsed", 1)), says: []string{"volumes: 2 wanted, 1 left",
			"gigabytes of volumes: 40 wanted, 39 left"}},
		"no such image": {needs: func(n *Needs) { n.Image = "other" },
			says:  []string{`image "other" does not exist in project telco; there are: kube`},
			hints: []string{"cluster.openstack.image"}},
		"no such id": {needs: func(n *Needs) { n.Image = standin.NetworkID },
			says: []string{`image "` + standin.NetworkID + `" does not exist`}},
		"two images of one name": {cloud: answers("GET /image/v2/images",
			standin.Object{"images": []standin.Object{{"id": "a", "name": "kube"}, {"id": "b", "name": "kube"}}}),
			says: []string{`image "kube" is the name of 2`}, hints: []string{"Use its id"}},
		"an image that is not active": {cloud: image(standin.Object{"status": "queued"}),
			says: []string{`image "kube" is not active but queued`}},
		"an image for a larger disk": {cloud: image(standin.Object{"min_disk": 30}),
			says:  []string{`image "kube" wants a disk of 30 GiB, and flavor "m1.small" has 20`},
			hints: []string{"root_volume.size"}},
		"an image that is larger": {cloud: image(standin.Object{"size": 20<<30 + 1}),
			says: []string{`wants a disk of 21 GiB, and flavor "m1.small" has 20`}},
		"one that is larger when it runs": {needs: volumeNeeds, cloud: image(standin.Object{"virtual_size": 21 << 30}),
			says: []string{"wants a disk of 21 GiB, and the root volume has 20"}, hints: []string{"Raise"}},
		"an image for more memory": {cloud: image(standin.Object{"min_ram": 4096}),
			says: []string{`wants 4096 MiB of memory, and flavor "m1.small" has 2048`}},
		"a volume that the image fits in": {needs: volumeNeeds, cloud: all3(image(standin.Object{"min_disk": 20}),
			answers("GET /compute/v2.1/flavors/detail",
				standin.Object{"flavors": []standin.Object{{"id": "2", "name": "m1.small", "vcpus": 2,
					"ram": 2048}}}))},
		"no such flavors": {needs: func(n *Needs) {
			n.ControlPlane.Flavor, n.Workers.Flavor = "cp",
				"w"
		},
			says: []string{`flavor "cp" does not exist in project telco; there are: m1.diskless, m1.medium, m1.small, m1.tiny`, `flavor "w" does not exist`}, hints: []string{"control_plane_flavor", "worker_flavor"}},
		"a control plane that is small": {needs: func(n *Needs) { n.ControlPlane.Flavor = "m1.tiny" },
			cloud: image(nil),
			says:  []string{`flavor "m1.tiny" has too little: cores 1, memory 512 MiB; a control plane machine needs at least 2 and 2000 MiB`}},
		"a worker may be small": {needs: func(n *Needs) { n.Workers.Flavor = "m1.tiny" }, cloud: image(nil)},
		"no such key pair": {needs: func(n *Needs) { n.KeyPair = "bob" },
			says:  []string{`key pair "bob" does not exist for this user; there are: ada`},
			hints: []string{"belong to a user"}},
		"no key pair is no problem": {needs: func(n *Needs) { n.KeyPair = "" }},
		"zones": {needs: func(n *Needs) {
			n.ControlPlane.Zones,
				n.Workers.Zones = []string{"az1", "az2"}, []string{"az2"}
		}, says: []string{`availability zone "az2" is not available; there are: az1`}},
		"a zone and a type of volumes": {needs: func(n *Needs) {
			volumeNeeds(n)
			n.RootVolume.Zone,
				n.RootVolume.Type = "az1", "hdd"
		}, says: []string{`volume type "hdd" does not exist in project telco; there are: ssd`,
			`availability zone of volumes "az1" is not available; there are: nova`}},
		"no such external network": {needs: func(n *Needs) { n.ExternalNetwork = "ext" },
			says:  []string{`external network "ext" does not exist in project telco; there are: public`},
			hints: []string{"router:external"}},
		"an external network without any": {cloud: answers("GET /network/v2.0/networks",
			standin.Object{"networks": []standin.Object{{"id": standin.NetworkID, "name": "public"}}}),
			says: []string{`external network "public" has no subnet`}},
		"an external network that is full": {cloud: answers("GET /network/v2.0/network-ip-availabilities/"+
			standin.NetworkID, standin.Object{"network_ip_availability": standin.Object{"total_ips": 99, "used_ips": 1,
			"subnet_ip_availability": []standin.Object{
				{"ip_version": 4, "total_ips": 3, "used_ips": 2}, {"ip_version": 6, "total_ips": 18446744073709551614.0,
					"used_ips": 1}}}}),
			says: []string{`external network "public" has 1 addresses left, and 2 are wanted`}},
		"a network, subnet and router of one's own": {needs: func(n *Needs) {
			n.Network, n.Subnet, n.Router = "public",
				"sub", ""
		}},
		"no such network": {needs: func(n *Needs) { n.Network, n.Router = "mine", "r" },
			says: []string{`network "mine" does not exist`,
				`router "r" does not exist in project telco; there are: none`}},
		"no such subnet": {needs: func(n *Needs) { n.Network, n.Subnet = "public", "s" },
			says: []string{`subnet of network public "s" does not exist in project telco; there are: sub`}},
		"a network without a subnet": {needs: func(n *Needs) { n.Network = "public" },
			cloud: answers("GET /network/v2.0/subnets", standin.Object{"subnets": []standin.Object{}}),
			says:  []string{`network "public" has no subnet`}},
		"a floating IP that is free": {needs: func(n *Needs) { n.FloatingIP = "192.0.2.7" }},
		"one that is another's": {needs: func(n *Needs) { n.FloatingIP = "192.0.2.8" },
			says: []string{"floating IP 192.0.2.8 is in use by port port-8, which is not this cluster's"}},
		"one that is not there": {needs: func(n *Needs) { n.FloatingIP = "192.0.2.9" },
			says: []string{"floating IP 192.0.2.9 is not one of project telco; free there are: 192.0.2.7"}},
		"no load balancers, no volumes": {needs: func(n *Needs) { volumeNeeds(n); n.LoadBalancers = true },
			cloud: func(s *standin.Cloud) {
				s.Answers["token"] = standin.OK(
					standin.Object{"catalog": s.Catalog("identity", "compute", "network", "image")})
			},
			says:  []string{"no load-balancer service (Octavia)", "no block-storage service (Cinder)"},
			hints: []string{"api_server.mode", "cinder-csi"}},
		"load balancers": {needs: func(n *Needs) { n.LoadBalancers = true }},
		"load balancers that are not allowed": {needs: func(n *Needs) { n.LoadBalancers = true },
			cloud: func(s *standin.Cloud) {
				s.Answers["GET /lb/v2.0/lbaas/loadbalancers"] = standin.Reply{Status: 403,
					Body: standin.Object{"faultstring": "Policy does not allow this request to be performed."}}
			},
			says:  []string{"does not let these credentials list them"},
			hints: []string{"load-balancer_member", "api_server.mode"}},
		"load balancers that it cannot list": {needs: func(n *Needs) { n.LoadBalancers = true },
			cloud: func(s *standin.Cloud) {
				s.Answers["GET /lb/v2.0/lbaas/loadbalancers"] = standin.Reply{Status: 400,
					Body: standin.Object{"faultstring": "bad"}}
			},
			says: []string{"asking the cloud for load balancers: 400 Bad Request: bad"}, fails: true},
		"a query that fails": {cloud: func(s *standin.Cloud) {
			s.Answers["GET /compute/v2.1/flavors/detail"] = standin.Reply{Status: 400,
				Body: standin.Object{"badRequest": standin.Object{"message": "bad"}}}
		}, says: []string{"asking the cloud for flavors: 400 Bad Request: bad"}, fails: true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			s, needs := standin.New(t, httptest.NewServer), someNeeds()
			if test.needs != nil {
				test.needs(&needs)
			}
			if test.cloud != nil {
				test.cloud(s)
			}
			_, err := preflight(t, s, needs)
			var told []string
			if err != nil {
				told = strings.Split(err.Error(), "\n")
			}
			if len(told) != len(test.says) {
				t.Fatalf("%d problems, want %d: %v", len(told), len(test.says), err)
			}
			for n, part := range test.says {
				if !strings.Contains(told[n], part) {
					t.Errorf("%q does not say %q", told[n], part)
				}
			}
			for _, part := range test.hints {
				if !strings.Contains(fault.HintOf(err), part) {
					t.Errorf("hint %q does not say %q", fault.HintOf(err), part)
				}
			}
			if code := fault.CodeOf(err); len(told) > 0 && (code == fault.CloudLacks) == test.fails {
				t.Errorf("code %s", code)
			}
		})
	}
}

// all3 applies up to three changes.
func all3(changes ...func(*standin.Cloud)) func(*standin.Cloud) {
	return func(s *standin.Cloud) {
		for _, change := range changes {
			change(s)
		}
	}
}

func TestPreflightNotesAndWarnings(t *testing.T) {
	s := standin.New(t, httptest.NewServer)
	s.Answers["token"] = standin.OK(standin.Object{"roles": []standin.Object{{"name": "member"}, {"name": "admin"}}})
	s.Answers["GET /network/v2.0/quotas/p1/details.json"] = standin.Reply{Status: 403,
		Body: standin.Object{"NeutronError": standin.Object{"message": "no"}}}
	needs := someNeeds()
	needs.Workers.Flavor = "m1.diskless"
	report, err := preflight(t, s, needs)
	if err != nil {
		t.Fatal(err)
	}
	want := Report{
		Notes: []string{"logged in to project telco", "the cloud does not let these credentials look at quotas of " +
			"network: not checked"},
		Warnings: []string{"these are credentials of an administrator, and the management cluster will keep them: " +
			"better use a member of the project, or an application credential",
			`flavor "m1.diskless" has no disk of its own, which many clouds refuse: set cluster.openstack.root_volume.size`,
			"quota of project telco: instances: 0 left then, and the machine that is made first when one is replaced " +
				"needs 1",
			"quota of project telco: MiB of memory: 0 left then, and the machine that is made first when one is " +
				"replaced needs 4096"},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a run that was interrupted has made counts as there.
func TestPreflightOfARunThatResumes(t *testing.T) {
	s := standin.New(t, httptest.NewServer)
	mine, others := []string{"x", tag}, []string{tag + "-2"}
	s.Answers["GET /compute/v2.1/servers/detail"] = standin.OK(
		standin.Object{"servers": []standin.Object{{"id": "s1", "tags": mine, "image": "",
			"flavor": standin.Object{"vcpus": 2, "ram": 2048}}, {"id": "s2", "tags": others}}})
	s.Answers["GET /compute/v2.1/os-server-groups"] = standin.OK(
		standin.Object{"server_groups": []standin.Object{{"name": "management-kubeadm-capo-workers"},
			{"name": "other"}}})
	tagged := func(one standin.Object) []standin.Object {
		other := standin.Object{"id": "other", "tags": others}
		one["tags"] = mine
		return []standin.Object{one, other}
	}
	s.Answers["GET /network/v2.0/networks"] = standin.OK(
		standin.Object{"networks": append(tagged(standin.Object{"id": "n1"}),
			standin.Object{"id": standin.NetworkID, "name": "public", "subnets": []string{"x"}})})
	s.Answers["GET /network/v2.0/subnets"] = standin.OK(standin.Object{"subnets": tagged(standin.Object{"id": "sub1"})})
	s.Answers["GET /network/v2.0/routers"] = standin.OK(standin.Object{"routers": tagged(standin.Object{"id": "r1"})})
	s.Answers["GET /network/v2.0/security-groups"] = standin.OK(
		standin.Object{"security_groups": tagged(
			standin.Object{"id": "g1", "security_group_rules": []standin.Object{{"id": "a"}, {"id": "b"}}})})
	s.Answers["GET /network/v2.0/ports"] = standin.OK(
		standin.Object{"ports": append(tagged(standin.Object{"id": "p1"}),
			standin.Object{"id": "dhcp", "network_id": "n1"})})
	s.Answers["GET /network/v2.0/floatingips"] = standin.OK(
		standin.Object{"floatingips": tagged(standin.Object{"floating_ip_address": "192.0.2.8", "port_id": "p1"})})
	full := standin.Object{"limit": 9, "used": 9, "reserved": 0}
	s.Answers["GET /network/v2.0/quotas/p1/details.json"] = standin.OK(
		standin.Object{"quota": standin.Object{"network": full, "subnet": full, "router": full, "floatingip": full,
			"port": standin.Object{"limit": 9, "used": 7, "reserved": 0}, "security_group": standin.Object{"limit": 9,
				"used": 8, "reserved": 0}, "security_group_rule": standin.Object{"limit": 100, "used": 86,
				"reserved": 0}}})
	s.Answers["GET /compute/v2.1/limits"] = standin.OK(
		standin.Object{"limits": standin.Object{"absolute": standin.Object{"maxTotalInstances": 2,
			"totalInstancesUsed": 1, "maxTotalCores": 4, "totalCoresUsed": 2,
			"maxTotalRAMSize": 4096, "totalRAMUsed": 2048, "maxServerGroups": 1, "totalServerGroupsUsed": 1}}})
	s.Answers["GET /volume/v3/limits"] = standin.OK(
		standin.Object{"limits": standin.Object{"absolute": standin.Object{"maxTotalVolumes": 2, "totalVolumesUsed": 1,
			"maxTotalVolumeGigabytes": 40, "totalGigabytesUsed": 20}}})
	needs := someNeeds()
	volumeNeeds(&needs)
	needs.FloatingIP, needs.ServerGroups, needs.Resources.ServerGroups = "192.0.2.8",
		[]string{"management-kubeadm-capo-workers"}, 1
	if _, err := preflight(t, s, needs); err != nil {
		t.Errorf("there is room for the rest exactly: %v", err)
	}
	needs.Tag = "another"
	if _, err := preflight(t, s, needs); err == nil || len(strings.Split(err.Error(), "\n")) < 9 {
		t.Errorf("there is no room for another one: %v", err)
	}
	s.Answers["GET /network/v2.0/floatingips"] = standin.OK(standin.Object{"floatingips": []standin.Object{
		{"floating_ip_address": "192.0.2.8", "description": "ours"}}})
	needs.FloatingIP, needs.Tag, needs.AddressDescription = "", someNeeds().Tag, "ours"
	if _, err := preflight(t, s, needs); err != nil {
		t.Errorf("an address without its tag counts twice: %v", err)
	}
	s.Answers["GET /network/v2.0/ports"] = standin.OK(standin.Object{"ports": []standin.Object{
		{"id": "p1", "description": "ours"}, {"id": "dhcp", "network_id": "n1"}, {"id": "p2", "description": ""}}})
	if _, err := preflight(t, s, needs); err != nil {
		t.Errorf("a reserved address without its tag counts twice: %v", err)
	}
	needs = someNeeds()
	needs.Resources.Servers, needs.Image = 1, "deleted since"
	report, err := preflight(t, s, needs)
	if err != nil || len(report.Notes) != 2 || report.Notes[1] != "the cluster's 1 servers are there already" {
		t.Errorf("a cluster that is there: %v, %v", err, report)
	}
}

// When a service goes away, each further query would wait for nothing.
func TestPreflightStopsAskingWhoDoesNotAnswer(t *testing.T) {
	s := standin.New(t, httptest.NewServer)
	s.Answers["GET /image/v2/images"] = standin.Reply{Status: 503, Body: "<html>s3cret</html>"}
	_, err := preflight(t, s, someNeeds())
	if fault.CodeOf(err) != fault.CloudUnreachable || !fault.CanRetry(err) ||
		err.Error() != "asking the cloud for images: 503 Service Unavailable" {
		t.Errorf("error %v with code %s", err, fault.CodeOf(err))
	}
	if slices.ContainsFunc(s.Asked, func(asked string) bool { return strings.Contains(asked, "limits") }) {
		t.Errorf("it went on: %v", s.Asked)
	}
}

// If an answer lacks its object, its values are unknown.
func TestPreflightDoesNotTakeHalfAnAnswer(t *testing.T) {
	for _, request := range []string{"GET /compute/v2.1/limits", "GET /volume/v3/limits",
		"GET /network/v2.0/quotas/p1/details.json", "GET /network/v2.0/network-ip-availabilities/" + standin.NetworkID} {
		s := standin.New(t, httptest.NewServer)
		if _, known := s.Answers[request]; !known {
			t.Fatalf("the stand-in has no answer to %s", request)
		}
		s.Answers[request] = standin.OK(standin.Object{})
		needs := someNeeds()
		volumeNeeds(&needs)
		_, err := preflight(t, s, needs)
		if err == nil || !strings.Contains(err.Error(), "lacks what was asked for") {
			t.Errorf("%s: %v", request, err)
		}
	}
}
