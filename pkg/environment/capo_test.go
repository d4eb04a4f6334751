package environment_test

import (
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

const (
	passwordCloud = "clouds:\n  telco:\n    auth: {auth_url: https://cloud.example.org:5000/v3, username: robot, " +
		"password: s3cret, project_name: mgmt, user_domain_name: Default, project_domain_name: Default}\n    " +
		"region_name: RegionOne\n"
	// appCloud is an application credential, of a cloud whose certificate is not looked at.
	appCloud = "clouds:\n  telco:\n    auth_type: v3applicationcredential\n    verify: false\n    auth: {auth_url: " +
		"https://cloud.example.org:5000/v3, application_credential_id: abc, application_credential_secret: s3cret}\n"
	caCert   = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
	networkA = "11111111-2222-3333-4444-555555555555"
	imageA   = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
)

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// openstackVariables is all that the environments on OpenStack ask for.
func openstackVariables() map[string]string {
	return map[string]string{
		"OPENSTACK_CLOUD": "telco", "OPENSTACK_CLOUD_YAML_B64": encoded(passwordCloud),
		"OPENSTACK_IMAGE_NAME":                   "ubuntu-2404-kube-v1.36.4",
		"OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "m1.large", "OPENSTACK_NODE_MACHINE_FLAVOR": "m1.medium",
		"OPENSTACK_EXTERNAL_NETWORK": "public",
	}
}

// capo loads environment name, with changes to the variables.
func capo(t *testing.T, name string, changes map[string]string, sets ...string) *environment.Environment {
	t.Helper()
	values := openstackVariables()
	for key, value := range changes {
		values[key] = value
	}
	return load(t, environment.Options{Name: name, Variables: variables(values), Sets: sets})
}

type openstackCase struct {
	name    string
	changes map[string]string
	sets    []string
}

// openstackCases are the sorts of clusters on OpenStack that there are.
func openstackCases() map[string]openstackCase {
	const at = "cluster.openstack."
	existing := []string{at + "network=" + networkA, at + "subnet=machines", at + "api_server.mode=fixed-ip",
		at + "api_server.fixed_ip=10.0.0.9", at + "external_network=",
		at + "security_groups.allow_all_in_cluster_traffic=false", at + "security_groups.rules[0].name=VXLAN",
		at + "security_groups.rules[0].direction=ingress",
		at + "security_groups.rules[0].etherType=IPv4", at + "security_groups.rules[0].protocol=udp",
		at + "security_groups.rules[0].portRangeMin=4789",
		at + "security_groups.rules[0].portRangeMax=4789",
		at + "security_groups.rules[0].remoteManagedGroups={controlplane,worker}"}
	machines := []string{"cluster.worker.replicas=2", "cluster.control_plane.replicas=3",
		"cluster.control_plane.schedulable=false",
		at + "image=" + imageA, at + "worker_flavor=" + imageA, at + "root_volume.size=40", at + "root_volume.type=ssd",
		at + "root_volume.availability_zone=nova",
		at + "control_plane_availability_zones={az1,az2}", at + "worker_availability_zone=az3",
		at + "server_groups.control_plane=anti-affinity", at + "server_groups.worker=soft-anti-affinity",
		at + "ssh_key_name=telco", "proxies.http_proxy=http://proxy:3128",
		"cluster.registry_mirrors[0].host=registry.k8s.io", "cluster.registry_mirrors[0].url=http://mirror:5000"}
	virtual := slices.Concat(existing, []string{at + "api_server.mode=vip", "cluster.control_plane.replicas=3",
		at + "api_server.keepalived_image=registry.example.org/keepalived:2.2.7"})
	return map[string]openstackCase{
		"kubeadm-capo.plain": {name: "kubeadm-capo"},
		"kubeadm-capo.address": {"kubeadm-capo", nil, []string{at + "api_server.managed_floating_ip=203.0.113.8",
			"proxies.http_proxy=http://proxy:3128"}},
		"kubeadm-capo.machines": {"kubeadm-capo", map[string]string{"OPENSTACK_API_SERVER_FLOATING_IP": "203.0.113.7",
			"OPENSTACK_DNS_NAMESERVERS": "1.1.1.1, 8.8.8.8"}, machines},
		"kubeadm-capo.fixed-ip": {"kubeadm-capo", nil, existing},
		"kubeadm-capo.vip":      {"kubeadm-capo", nil, virtual},
		"kubeadm-capo.octavia": {"kubeadm-capo", map[string]string{"OPENSTACK_CLOUD_YAML_B64": encoded(appCloud),
			"OPENSTACK_CLOUD_CACERT_B64": encoded(caCert), "OPENSTACK_EXTERNAL_NETWORK": networkA},
			[]string{at + "api_server.mode=octavia", at + "api_server.allowed_cidrs={192.0.2.0/24}",
				at + "router=edge"}},
		"kubeadm-capo.flatcar": {"kubeadm-capo", nil, []string{"cluster.bootstrap_format=ignition",
			"proxies.http_proxy=http://proxy:3128"}},
		"rke2-capo.plain":    {name: "rke2-capo"},
		"rke2-capo.machines": {"rke2-capo", nil, machines},
		"rke2-capo.octavia": {"rke2-capo", nil, []string{at + "api_server.mode=octavia",
			"cluster.rke2.registration_method=control-plane-endpoint"}},
	}
}

func TestDefinitionsOnOpenStack(t *testing.T) {
	for name, test := range openstackCases() {
		t.Run(name, func(t *testing.T) {
			objects := applied(t, capo(t, test.name, test.changes, test.sets...), "cluster")
			golden.Check(t, filepath.Join("cluster", name+".yaml"), toYAML(t, objects))
			checkTypes(t, objects)
		})
	}
}

func TestControllersOfOpenStack(t *testing.T) {
	app := map[string]string{"OPENSTACK_CLOUD_YAML_B64": encoded(appCloud), "OPENSTACK_CLOUD_CACERT_B64": encoded(
		caCert)}
	env := capo(t, "kubeadm-capo", app, "components.cinder-csi.enabled=management-only",
		"cluster.openstack.load_balancers=true", "proxies.http_proxy=http://proxy:3128")
	for component, secret := range map[string]string{"cloud-provider": "openstack-cloud-controller-manager",
		"cinder-csi": "csi-cinder"} {
		objects := applied(t, env, component)
		golden.Check(t, filepath.Join("cluster", "capo."+component+".yaml"), toYAML(t, objects))
		data, _, _ := unstructured.NestedStringMap(find(t, objects, "Secret", secret).Object, "data")
		conf, err := base64.StdEncoding.DecodeString(data["cloud.conf"])
		want := "[Global]\nuse-clouds = true\nclouds-file = /etc/openstack/clouds.yaml\ncloud = \"telco\"\nca-file = " +
			"/etc/openstack/cacert\ntls-insecure = true\n\n[LoadBalancer]\nenabled = true\n"
		if diff := cmp.Diff(want, string(conf)); diff != "" || err != nil {
			t.Errorf("%s: cloud.conf (-want +got):\n%s%v", component, diff, err)
		}
		if data["clouds.yaml"] != encoded(appCloud) || data["cacert"] != encoded(caCert) {
			t.Errorf("%s: its files are %v", component, data)
		}
	}
}

// A pod with other credentials than before is another pod, and so is one with another cloud.conf.
func TestOtherOpenStackCredentialsAreAnotherPod(t *testing.T) {
	hash := func(component, kind, name string, changes map[string]string, sets ...string) string {
		env := capo(t, "kubeadm-capo", changes, append(sets, "components.cinder-csi.enabled=true",
			"secret_fingerprint_key=a")...)
		hash, _, _ := unstructured.NestedString(find(t, applied(t, env, component), kind, name).Object, "spec",
			"template", "metadata", "annotations", "cluster-init.io/credentials")
		return hash
	}
	for component, workload := range map[string][2]string{"cloud-provider": {"DaemonSet",
		"openstack-cloud-controller-manager"}, "cinder-csi": {"Deployment", "csi-cinder-controller"}} {
		kind, name := workload[0], workload[1]
		one := hash(component, kind, name, nil)
		for what, other := range map[string]string{
			"clouds.yaml": hash(component, kind, name,
				map[string]string{"OPENSTACK_CLOUD_YAML_B64": encoded(appCloud)}),
			"cacert": hash(component, kind, name,
				map[string]string{"OPENSTACK_CLOUD_CACERT_B64": encoded(caCert)}),
			"cloud.conf": hash(component, kind, name, nil, "cluster.openstack.load_balancers=true"),
		} {
			if len(one) != 8 || len(other) != 8 || one == other {
				t.Errorf("%s, other %s: hashes %q and %q", component, what, one, other)
			}
		}
	}
}

// Worker machines roll when their own definition changes, and only they.
func TestOpenStackTemplateHashFollowsTheMachines(t *testing.T) {
	names := func(sets ...string) (controlPlane, workers string) {
		objects := applied(t, capo(t, "kubeadm-capo", nil, sets...), "cluster")
		for _, object := range objects {
			if object.GetKind() != "OpenStackMachineTemplate" {
				continue
			}
			if strings.Contains(object.GetName(), "-control-plane-") {
				controlPlane = object.GetName()
			} else {
				workers = object.GetName()
			}
		}
		// What refers to them must follow.
		text := string(toYAML(t, objects))
		if strings.Count(text, controlPlane) != 2 || strings.Count(text, workers) != 4 {
			t.Errorf("%v: the names %s and %s are not referred to", sets, controlPlane, workers)
		}
		return controlPlane, workers
	}
	controlPlane, workers := names()
	const at = "cluster.openstack."
	for set, changes := range map[string][2]bool{
		at + "worker_flavor=m2": {false, true}, at + "control_plane_flavor=m2": {true, false},
		at + "image=other": {true, true}, at + "ssh_key_name=x": {true, true},
		at + "root_volume.size=9": {true, true}, at + "server_groups.worker=affinity": {false, true},
		"cluster.kubernetes_version=v1.36.2": {true, true},
		"cluster.worker.replicas=1":          {}, at + "node_cidr=10.7.0.0/24": {}, at + "clouds_yaml_b64=" +
			encoded(appCloud): {}, at + "load_balancers=true": {},
	} {
		otherControlPlane, otherWorkers := names(set)
		if got := [2]bool{otherControlPlane != controlPlane, otherWorkers != workers}; got != changes {
			t.Errorf("--set %s: new templates %v, want %v", set, got, changes)
		}
	}
}

// The credentials go from a Secret to Secrets, and are nowhere else.
func TestOpenStackCredentialsAreInSecretsOnly(t *testing.T) {
	env := capo(t, "kubeadm-capo", nil, "debug_values=true", "components.cinder-csi.enabled=true")
	secret := encoded(passwordCloud)
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(objects.InfraSecrets.Data["values.yaml"]), secret) {
		t.Error("management-cluster-infra-secrets does not hold the credentials")
	}
	if strings.Contains(objects.Values.Data["values.yaml"], secret) ||
		strings.Contains(string(objects.Secrets.Data["values.yaml"]), secret) {
		t.Error("the credentials are in other values too")
	}
	for phase, namespaces := range map[environment.Phase][]string{environment.Bootstrap: {"flux-system", "management"},
		environment.Management: {"flux-system"}} {
		rendered, err := env.Render(phase, nil)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, object := range rendered {
			if !strings.Contains(string(toYAML(t, []*unstructured.Unstructured{object})), secret) {
				continue
			}
			found = append(found, object.GetNamespace())
			if object.GetKind() != "Secret" || object.GetName() != "telco-cloud-init-openstack-credentials" ||
				object.GetLabels()["reconcile.fluxcd.io/watch"] != "Enabled" {
				t.Errorf("%s: %s %s holds the credentials", phase, object.GetKind(), object.GetName())
			}
		}
		if diff := cmp.Diff(namespaces, found); diff != "" {
			t.Errorf("%s: namespaces with the credentials (-want +got):\n%s", phase, diff)
		}
	}
	set := capo(t, "kubeadm-capo", nil, "cluster.openstack.clouds_yaml_b64="+encoded(appCloud))
	if objects, err = set.Objects(); err != nil || strings.Contains(objects.Values.Data["values.yaml"],
		encoded(appCloud)) {
		t.Errorf("--set wrote the credentials into the ConfigMap (%v)", err)
	}
}

// What the cluster's definition does not name by an owner must carry a label, and so must the definitions of its kind.
func TestAllOfOpenStackMoves(t *testing.T) {
	const move = "clusterctl.cluster.x-k8s.io/move"
	secret := find(t, applied(t, capo(t, "kubeadm-capo", nil), "cluster"), "Secret", "kubeadm-capo-cloud-config")
	if _, moves := secret.GetLabels()[move]; !moves {
		t.Error("clusterctl would leave the credentials behind")
	}
	files, _ := components(t)
	for folder, want := range map[string]struct{ provider, label string }{
		"capo": {"infrastructure-openstack", "clusterctl.cluster.x-k8s.io"}, "orc": {"openstack-resource-controller",
			move},
	} {
		resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/kustomize-components/"+folder)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, resource := range resources.Resources() {
			labels := resource.GetLabels()
			_, found := labels["clusterctl.cluster.x-k8s.io"]
			_, wanted := labels[want.label]
			if resource.GetKind() == "CustomResourceDefinition" && found && wanted &&
				labels["cluster.x-k8s.io/provider"] == want.provider {
				seen++
			}
		}
		if seen == 0 {
			t.Errorf("no definition of %s would be moved", folder)
		}
	}
}

// A patch of the user's own comes after what the chart puts there.
func TestOpenStackClusterTakesAPatch(t *testing.T) {
	env := capo(t, "kubeadm-capo", nil, "components.cluster.spec.patches[0].target.kind=OpenStackMachineTemplate",
		`components.cluster.spec.patches[0].patch=- {op: add\, path: /spec/template/spec/configDrive\, value: true}`)
	for _, object := range applied(t, env, "cluster") {
		if object.GetKind() != "OpenStackMachineTemplate" {
			continue
		}
		drive, _, _ := unstructured.NestedBool(object.Object, "spec", "template", "spec", "configDrive")
		flavor, _, _ := unstructured.NestedString(object.Object, "spec", "template", "spec", "flavor")
		if !drive || flavor == "" {
			t.Errorf("%s has configDrive %v and flavor %q", object.GetName(), drive, flavor)
		}
	}
}

func TestBadInputForOpenStack(t *testing.T) {
	const at = "cluster.openstack."
	cases := map[string]struct {
		change  map[string]string
		sets    []string
		message string
	}{
		"no clouds.yaml":       {map[string]string{"OPENSTACK_CLOUD_YAML_B64": ""}, nil, "OS_CLOUD"},
		"no name of the cloud": {map[string]string{"OPENSTACK_CLOUD": ""}, nil, "cloud_name"},
		"not base64": {map[string]string{"OPENSTACK_CLOUD_YAML_B64": "s3cret: yes"}, nil,
			"not base64"},
		"not YAML": {map[string]string{"OPENSTACK_CLOUD_YAML_B64": encoded("{s3cret")}, nil,
			"entry telco"},
		"another cloud": {map[string]string{"OPENSTACK_CLOUD": "other"}, nil, "entry other"},
		"no certificate": {map[string]string{"OPENSTACK_CLOUD_CACERT_B64": encoded("s3cret")}, nil,
			"no certificate"},
		"no image": {map[string]string{"OPENSTACK_IMAGE_NAME": ""}, nil, "openstack image list"},
		"no flavor": {map[string]string{"OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": ""}, nil,
			"OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR"},
		"no flavor of workers": {map[string]string{"OPENSTACK_NODE_MACHINE_FLAVOR": ""}, nil,
			"openstack flavor list"},
		"no external network": {map[string]string{"OPENSTACK_EXTERNAL_NETWORK": ""}, nil,
			"openstack network list --external"},
		"no fixed IP": {nil, []string{at + "api_server.mode=fixed-ip"}, "fixed_ip is empty"},
		"fixed IP and floating IP": {nil, []string{at + "api_server.mode=fixed-ip",
			at + "api_server.fixed_ip=10.6.0.9", at + "api_server.floating_ip=1.2.3.4"},
			"for the modes floating-ip and octavia"},
		"fixed IP of a load balancer": {nil, []string{at + "api_server.mode=octavia",
			at + "api_server.fixed_ip=10.6.0.9"}, "api_server.fixed_ip: An address"},
		"a managed floating IP of a load balancer": {nil, []string{at + "api_server.mode=octavia",
			at + "api_server.managed_floating_ip=203.0.113.8"}, "api_server/managed_floating_ip"},
		"no such mode": {nil, []string{at + "api_server.mode=ipvs"},
			"/cluster/openstack/api_server/mode"},
		"CIDRs without a load balancer": {nil, []string{at + "api_server.allowed_cidrs={192.0.2.0/24}"},
			"for mode octavia only"},
		"subnet without a network": {nil, []string{at + "subnet=a"}, "openstack.subnet: The subnet of `network`"},
		"name servers of a network": {nil, []string{at + "network=a", at + "dns_nameservers={1.1.1.1}"},
			"dns_nameservers"},
		"volume type without a volume": {nil, []string{at + "root_volume.type=ssd"},
			"Without a size there is no volume"},
		"no such policy": {nil, []string{at + "server_groups.worker=apart"},
			"/cluster/openstack/server_groups/worker"},
		"name too long for a tag": {nil, []string{"cluster.name=" + strings.Repeat("a", 29)}, "leave 39"},
		"Ignition for RKE2": {nil, []string{"cluster.bootstrap_provider=rke2",
			"cluster.kubernetes_version=v1.36.4+rke2r1", "cluster.bootstrap_format=ignition",
			"components.cabpr.enabled=true"}, "rke2-capo cannot do"},
		"the provider without ORC": {nil, []string{"components.orc.enabled=false"}, `depends on "orc"`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			values := openstackVariables()
			for key, value := range test.change {
				values[key] = value
			}
			_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capo",
				Content: clusterinit.Content(), Variables: variables(values), Sets: test.sets})
			code := fault.CodeOf(err)
			if err == nil || code != fault.ValuesInvalid && code != fault.ComponentUnknown ||
				!strings.Contains(err.Error()+fault.HintOf(err), test.message) || fault.HintOf(err) == "" {
				t.Fatalf("error %v with code %s and hint %q, want %q", err, code, fault.HintOf(err), test.message)
			}
			if strings.Contains(err.Error(), "failed") {
				t.Errorf("a heading of the schema's validator is said: %v", err)
			}
			if strings.Contains(err.Error()+fault.HintOf(err), "s3cret") {
				t.Error("the error holds the credentials")
			}
		})
	}
}

func TestOpenStackAccessor(t *testing.T) {
	const at = "cluster.openstack."
	plain := capo(t, "kubeadm-capo", map[string]string{"OPENSTACK_DNS_NAMESERVERS": "1.1.1.1, 8.8.8.8"},
		"cluster.worker.replicas=1")
	full := capo(t, "kubeadm-capo", nil, openstackCases()["kubeadm-capo.machines"].sets...)
	fixed := capo(t, "kubeadm-capo", nil, append(openstackCases()["kubeadm-capo.fixed-ip"].sets,
		"components.cinder-csi.enabled=management-only")...)
	virtual := capo(t, "kubeadm-capo", nil, openstackCases()["kubeadm-capo.vip"].sets...)
	balanced := capo(t, "rke2-capo", nil, at+"api_server.mode=octavia", at+"api_server.floating_ip=203.0.113.7",
		at+"router=edge")
	for name, test := range map[string]struct {
		env       *environment.Environment
		want      environment.OpenStack
		resources environment.OpenStackResources
		groups    []string
	}{
		"plain": {plain, environment.OpenStack{
			Image: "ubuntu-2404-kube-v1.36.4", ExternalNetwork: "public",
			ControlPlane: environment.OpenStackMachines{Count: 1, Flavor: "m1.large"},
			Workers:      environment.OpenStackMachines{Count: 1, Flavor: "m1.medium"},
			Network: environment.OpenStackNetwork{Made: true, CIDR: "10.6.0.0/24",
				DNSNameservers: []string{"1.1.1.1", "8.8.8.8"}},
			APIServer: environment.OpenStackAPIServer{Mode: environment.APIServerFloatingIP},
		}, environment.OpenStackResources{Servers: 2, Ports: 3, Networks: 1, Subnets: 1, Routers: 1, SecurityGroups: 2,
			FloatingIPs: 1}, nil},
		"machines": {full, environment.OpenStack{
			Image: imageA, ExternalNetwork: "public", SSHKeyName: "telco",
			ControlPlane: environment.OpenStackMachines{Count: 3, Flavor: "m1.large",
				ServerGroupPolicy: "anti-affinity", AvailabilityZones: []string{"az1", "az2"}},
			Workers: environment.OpenStackMachines{Count: 2, Flavor: imageA,
				ServerGroupPolicy: "soft-anti-affinity", AvailabilityZones: []string{"az3"}},
			RootVolume: environment.OpenStackRootVolume{SizeGiB: 40, Type: "ssd", AvailabilityZone: "nova"},
			Network:    environment.OpenStackNetwork{Made: true, CIDR: "10.6.0.0/24"},
			APIServer:  environment.OpenStackAPIServer{Mode: environment.APIServerFloatingIP},
		}, environment.OpenStackResources{Servers: 5, ServerGroups: 2, Ports: 6, Networks: 1, Subnets: 1, Routers: 1,
			SecurityGroups: 2, FloatingIPs: 1, Volumes: 5, Gigabytes: 200},
			[]string{"management-kubeadm-capo-control-plane", "management-kubeadm-capo-workers"}},
		"fixed IP in a network that is there": {fixed, environment.OpenStack{
			Image:        "ubuntu-2404-kube-v1.36.4",
			ControlPlane: environment.OpenStackMachines{Count: 1, Flavor: "m1.large"},
			Workers:      environment.OpenStackMachines{Flavor: "m1.medium"},
			Network:      environment.OpenStackNetwork{Network: networkA, Subnet: "machines"},
			APIServer:    environment.OpenStackAPIServer{Mode: environment.APIServerFixedIP, FixedIP: "10.0.0.9"},
			CinderCSI:    true,
		}, environment.OpenStackResources{Servers: 1, Ports: 1, SecurityGroups: 2}, nil},
		"virtual address": {virtual, environment.OpenStack{
			Image:        "ubuntu-2404-kube-v1.36.4",
			ControlPlane: environment.OpenStackMachines{Count: 3, Flavor: "m1.large"},
			Workers:      environment.OpenStackMachines{Flavor: "m1.medium"},
			Network:      environment.OpenStackNetwork{Network: networkA, Subnet: "machines"},
			APIServer:    environment.OpenStackAPIServer{Mode: environment.APIServerVIP, FixedIP: "10.0.0.9"},
		}, environment.OpenStackResources{Servers: 3, Ports: 4, SecurityGroups: 2}, nil},
		"load balancer": {balanced, environment.OpenStack{
			Image: "ubuntu-2404-kube-v1.36.4", ExternalNetwork: "public",
			ControlPlane: environment.OpenStackMachines{Count: 1, Flavor: "m1.large"},
			Workers:      environment.OpenStackMachines{Flavor: "m1.medium"},
			Network:      environment.OpenStackNetwork{Made: true, CIDR: "10.6.0.0/24", Router: "edge"},
			APIServer:    environment.OpenStackAPIServer{Mode: environment.APIServerOctavia, FloatingIP: "203.0.113.7"},
		}, environment.OpenStackResources{Servers: 1, Ports: 3, Networks: 1, Subnets: 1, SecurityGroups: 2,
			LoadBalancers: 1}, nil},
	} {
		if diff := cmp.Diff(test.want, test.env.OpenStack()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.resources, test.env.OpenStack().Resources()); diff != "" {
			t.Errorf("%s: resources (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.groups, test.env.OpenStackServerGroups()); diff != "" {
			t.Errorf("%s: server groups (-want +got):\n%s", name, diff)
		}
	}
	// The chart writes the same names.
	text := string(toYAML(t, applied(t, full, "cluster")))
	for _, name := range append(full.OpenStackServerGroups(), full.OpenStackTag(), full.OpenStackClusterName()) {
		if !strings.Contains(text, name+"\n") && name != full.OpenStackClusterName() {
			t.Errorf("the definition does not hold %s", name)
		}
	}
}

// find returns the object of a kind and name.
func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

// A control-plane machine takes the floating IP that the provider made along: no date may replace it.
func TestNoDateTakesTheAddressAway(t *testing.T) {
	for name, tc := range map[string]struct {
		sets []string
		want bool
	}{
		"one that the provider makes": {nil, false},
		"one that is given":           {[]string{"cluster.openstack.api_server.floating_ip=203.0.113.7"}, true},
		"one that cluster-init makes": {[]string{"cluster.openstack.api_server.managed_floating_ip=203.0.113.8"}, true},
		"a load balancer":             {[]string{"cluster.openstack.api_server.mode=octavia"}, true},
		"other days": {[]string{"cluster.openstack.api_server.mode=octavia",
			"cluster.control_plane.certificates_expiry_days=90"}, true},
	} {
		for _, object := range applied(t, capo(t, "kubeadm-capo", nil, tc.sets...), "cluster") {
			if object.GetKind() != "KubeadmControlPlane" {
				continue
			}
			days, found, _ := unstructured.NestedInt64(object.Object, "spec", "rollout", "before",
				"certificatesExpiryDays")
			if want := int64(60 + 30*len(tc.sets[min(1, len(tc.sets)):])); found != tc.want || found && days != want {
				t.Errorf("%s: %d days, found %t", name, days, found)
			}
		}
	}
}
