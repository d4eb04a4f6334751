package bootstrap

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// behindProxy loads an environment with proxies, with all that it asks for.
func behindProxy(t *testing.T, name string, sets ...string) *environment.Environment {
	t.Helper()
	shell := map[string]string{"http_proxy": "http://proxy:3128", "https_proxy": "http://proxy:3128",
		"no_proxy":   ".corp.example, 198.51.100.7",
		"AWS_REGION": "eu-central-1", "AWS_S3_BUCKET_NAME": "cluster-api-provider-aws-x",
		"AWS_B64ENCODED_CREDENTIALS": "Cg==",
		"OPENSTACK_CLOUD":            "telco",
		"OPENSTACK_CLOUD_YAML_B64":   "Y2xvdWRzOiB7dGVsY286IHthdXRoOiB7YXV0aF91cmw6ICJodHRwczovL2Nsb3VkIn19fQo=",
		"OPENSTACK_IMAGE_NAME":       "i", "OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "f",
		"OPENSTACK_NODE_MACHINE_FLAVOR": "f", "OPENSTACK_EXTERNAL_NETWORK": "n",
		"OPENSTACK_API_SERVER_FLOATING_IP": "203.0.113.7"}
	env, err := environment.Load(t.Context(), environment.Options{Name: name, Content: clusterinit.Content(),
		Sets:      sets,
		Variables: func(name string) (string, bool) { value, set := shell[name]; return value, set }})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// machineList finds the list in the files of services of machines.
var machineList = regexp.MustCompile(`(?:NO_PROXY=\"?|noproxy = ")([^"\n]*)`)

// renderedLists returns the lists that the chart's Secrets have for controllers and for services of machines.
func renderedLists(t *testing.T, env *environment.Environment, phase environment.Phase) (controllers,
	machines []string) {
	t.Helper()
	rendered, err := env.Render(phase, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range rendered {
		data, _, _ := unstructured.NestedStringMap(object.Object, "stringData")
		switch object.GetName() {
		case "telco-cloud-init-proxy-variables":
			list, err := base64.StdEncoding.DecodeString(strings.Trim(data["PROXIES_NO_PROXY_B64"], `"`))
			if err != nil {
				t.Fatal(err)
			}
			controllers = append(controllers, string(list))
		case "telco-cloud-init-machine-proxies":
			for _, text := range data {
				for _, match := range machineList.FindAllStringSubmatch(text, -1) {
					machines = append(machines, match[1])
				}
			}
		}
	}
	return controllers, machines
}

// Flux, the controllers, the machines, the bootstrap cluster's node and cluster-init itself reach the same addresses
// without a proxy.
func TestOneListForAllThatHaveAProxy(t *testing.T) {
	inside := []string{".corp.example", "198.51.100.7", "localhost", "127.0.0.1", "10.245.0.0/16", "10.97.0.0/16",
		".svc", ".cluster.local", ".cluster.local."}
	for name, provider := range map[string][]string{
		"kubeadm-capd": {"172.16.0.0/12", "192.168.0.0/16", "mirror.example"},
		"rke2-capd":    {"172.16.0.0/12", "192.168.0.0/16", "mirror.example"},
		"kubeadm-capo": {"10.6.0.0/24", "203.0.113.7", "169.254.169.254"}, "rke2-capo": {"10.6.0.0/24", "203.0.113.7",
			"169.254.169.254"},
		"kubeadm-capa": {"10.0.0.0/16", ".elb.eu-central-1.amazonaws.com", "169.254.169.254"},
	} {
		t.Run(name, func(t *testing.T) {
			env := behindProxy(t, name, "cluster.pod_cidr=10.245.0.0/16", "cluster.service_cidr=10.97.0.0/16",
				"cluster.registry_mirrors[0].host=ghcr.io",
				"cluster.registry_mirrors[0].url=http://mirror.example:5000")
			wanted := Wanted{Environment: env}
			list, inKind := env.NoProxy(environment.Management), env.NoProxy(environment.Bootstrap)
			if inKind != list+",10.244.0.0/16,10.96.0.0/16" { // outside of kind, other networks may use these ranges
				t.Errorf("in the bootstrap cluster it is %s, want kind's ranges after %s", inKind, list)
			}
			for _, address := range append(append(inside, owned.Registry(env.ClusterName())), provider...) {
				if !strings.Contains(","+list+",", ","+address+",") {
					t.Errorf("%s is not in %s", address, list)
				}
			}
			if strings.ContainsAny(list, " \n") || strings.Contains(list, ",,") {
				t.Errorf("%q is no list with commas", list)
			}
			for phase, want := range map[environment.Phase]string{environment.Bootstrap: inKind,
				environment.Management: list} {
				for _, v := range proxyVariables(env, phase) {
					if v.Name == "NO_PROXY" && v.Value != want {
						t.Errorf("Flux has %s in phase %s", v.Value, phase)
					}
				}
			}
			config, err := (Cluster{Wanted: wanted}).config("id")
			if err != nil {
				t.Fatal(err)
			}
			if got := config.Proxies; got.No != inKind || got.HTTP != "http://proxy:3128" ||
				got.HTTPS != "http://proxy:3128" {
				t.Errorf("the bootstrap cluster's node has %+v", got)
			}
			for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
				controllers, machines := renderedLists(t, env, phase)
				want := list
				if phase == environment.Bootstrap {
					want = inKind
				}
				for _, got := range controllers {
					if got != want {
						t.Errorf("%s: controllers have %s, want %s", phase, got, want)
					}
				}
				for _, got := range machines {
					if got != list {
						t.Errorf("%s: machines have %s, want %s", phase, got, list)
					}
				}
				if len(controllers) == 0 || len(machines) < 2 {
					t.Errorf("%s: lists were seen %d and %d times", phase, len(controllers), len(machines))
				}
			}
		})
	}
}

// Overrides, a mirror for example, are in the list too.
func TestListFollowsMirrors(t *testing.T) {
	env, err := behindProxy(t, "kubeadm-capd").WithRegistryMirrors(
		[]environment.RegistryMirror{{Host: "ghcr.io", URL: "https://cache.example/ghcr"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if list := env.NoProxy(environment.Management); !strings.Contains(list, ",cache.example,") {
		t.Errorf("the mirror is not in %s", list)
	}
}
