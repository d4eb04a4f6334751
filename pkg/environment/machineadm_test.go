package environment_test

import (
	"encoding/base64"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// digestOfMachineadm is any digest.
const digestOfMachineadm = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// withMachineadm are values with all that machineadm takes over.
const withMachineadm = `
cluster:
  machines: {sysctls: {net.core.somaxconn: 4096, vm.big: 1000000}, kernel_modules: [sctp]}
  kubernetes: {audit_policy: {rules: [{level: Metadata}]}}
  machineadm: {enabled: true, source: "https://example.org/{arch}/machineadm", sha256: {amd64: ` +
	digestOfMachineadm + `}}
`

const staticPod = `
cluster:
  machineadm:
    cgroup_driver: systemd
    static_pods:
    - name: agent
      content: "apiVersion: v1\nkind: Pod\nmetadata: {name: agent}\nspec: {containers: [{name: a, image: '{{ a }}'}]}\n"
`

func machineadmOptions(t *testing.T, name string, sets ...string) environment.Options {
	t.Helper()
	files := map[string]string{"machineadm.yaml": withMachineadm, "more.yaml": "{}"}
	if !strings.HasPrefix(name, "rke2") {
		files["more.yaml"] = staticPod
	}
	at := folder(t, files)
	return environment.Options{Name: name, Variables: variables(allVariables()), Sets: sets,
		ValuesFiles: []string{filepath.Join(at, "machineadm.yaml"), filepath.Join(at, "more.yaml")}}
}

// machineadm gets the settings of machines in one configuration for each role, and is the first that machines run. The
// definition has no file or command for these settings any more.
func TestMachineadmPreparesMachines(t *testing.T) {
	for name, sets := range map[string][]string{
		"kubeadm-capd": nil, "kubeadm-capo": nil, "rke2-capd": nil, "rke2-capo": nil,
		"kubeadm-capa": {"cluster.bootstrap_format=ignition"},
	} {
		t.Run(name, func(t *testing.T) {
			env := load(t, machineadmOptions(t, name, append(sets,
				"cluster.registry_mirrors[0].host=docker.io", "cluster.registry_mirrors[0].url=http://mirror:5000",
				"proxies.http_proxy=http://user:p%20x@proxy:3128")...))
			for kind, spec := range configurations(t, env) {
				runsMachineadmFirst(t, name, kind, spec)
			}
			configs, err := env.MachineConfigs()
			if err != nil {
				t.Fatal(err)
			}
			for _, role := range []string{"control-plane.yaml", "worker.yaml"} {
				config, err := machineadm.Parse(configs[role])
				if err != nil {
					t.Fatalf("%s: %v", role, err)
				}
				hasMachineConfig(t, name, role, config)
			}
		})
	}
}

func runsMachineadmFirst(t *testing.T, name, kind string, spec map[string]any) {
	t.Helper()
	files := contentOfFiles(spec)
	shim := map[bool]string{false: "/usr/local/sbin/kubeadm", true: "/opt/machineadm/bin/kubeadm"}[name == "kubeadm-capa"]
	want := map[string]string{"/etc/machineadm/start": "telco-cloud-init-machineadm",
		"/etc/machineadm/machine.yaml": "telco-cloud-init-machineadm"}
	for path, secret := range want {
		if files[path] != secret {
			t.Errorf("%s has %q at %s, want the Secret %s", kind, files[path], path, secret)
		}
	}
	if has := strings.Contains(files[shim], "exec /opt/machineadm/bin/machineadm kubeadm"); has == strings.HasPrefix(
		name, "rke2") {
		t.Errorf("%s has the shim %q", kind, files[shim])
	}
	for _, gone := range []string{"sysctl.d", "modules-load.d", "certs.d", "containerd.service.d", "audit-policy"} {
		for path := range files {
			if strings.Contains(path, gone) {
				t.Errorf("%s still has %s", kind, path)
			}
		}
	}
	commands, _, _ := unstructured.NestedStringSlice(spec, map[bool]string{false: "preKubeadmCommands",
		true: "preRKE2Commands"}[strings.HasPrefix(name, "rke2")])
	start := slices.IndexFunc(commands, func(command string) bool {
		return strings.HasPrefix(command, "/bin/sh /etc/machineadm/start ")
	})
	before := map[string]int{"rke2-capd": 1, "kubeadm-capa": 1}[name] // the provider's own, and PATH
	if start != before || strings.Contains(strings.Join(commands, "\n"), "sysctl -p") {
		t.Errorf("%s runs %q", kind, commands)
	}
}

func hasMachineConfig(t *testing.T, name, role string, c machineadm.Config) {
	t.Helper()
	if c.Sysctls["net.core.somaxconn"] != "4096" || c.Sysctls["vm.big"] != "1000000" ||
		!slices.Equal(c.KernelModules, []string{"sctp"}) {
		t.Errorf("%s: %v %v", role, c.Sysctls, c.KernelModules)
	}
	kubeadm, control := strings.HasPrefix(name, "kubeadm"), role == "control-plane.yaml"
	if has := c.Proxy != nil && c.Containerd != nil && c.Proxy.HTTP == "http://user:p%20x@proxy:3128" &&
		len(c.Containerd.RegistryMirrors) == 1 && c.Containerd.CgroupDriver == "systemd"; has != kubeadm {
		t.Errorf("%s: %+v %+v", role, c.Proxy, c.Containerd)
	}
	if has := len(c.StaticPods) == 1 && strings.Contains(c.StaticPods[0].Content, "{{ a }}"); has != (kubeadm && control) {
		t.Errorf("%s has static Pods %v", role, c.StaticPods)
	}
	if has := slices.ContainsFunc(c.Files, func(f machineadm.File) bool {
		return strings.HasSuffix(f.Path, "/audit-policy.json") && strings.Contains(f.Content, `"Metadata"`) &&
			f.Mode == "0600"
	}); has != control {
		t.Errorf("%s has the files %v", role, c.Files)
	}
}

// The keys of encryption stay in their own Secret, which the definition refers to: nothing else may hold them.
func TestMachineadmHasNoKeys(t *testing.T) {
	env := load(t, withKubernetes(t, "kubeadm-capd", "cluster.machineadm.enabled=true"))
	const path = "/etc/kubernetes/cluster-init/encryption.json"
	files := contentOfFiles(configurations(t, env)["KubeadmControlPlane"])
	if !strings.Contains(files[path], "encryption") ||
		files["/etc/kubernetes/cluster-init/admission.json"] != "" {
		t.Errorf("the definition has %v", files)
	}
	configs, err := env.MachineConfigs()
	if err != nil || strings.Contains(string(configs["control-plane.yaml"]), encryptionKey) {
		t.Errorf("%v, %s", err, configs["control-plane.yaml"])
	}
}

// A change replaces the machines of the roles that it is for.
func TestWhatMachineadmReplaces(t *testing.T) {
	templates := func(options environment.Options) environment.Templates {
		all, err := load(t, options).Templates()
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Templates
	}
	plain := templates(machineadmOptions(t, "kubeadm-capd"))
	for set, both := range map[string]bool{
		"cluster.machines.sysctls.vm\\.big=1":                                                                    true,
		"cluster.machineadm.source=https://example.org/two":                                                      true,
		"cluster.machineadm.sha256.arm64=" + digestOfMachineadm:                                                  true,
		"cluster.kubernetes.audit_policy.omit_stages={Panic}":                                                    false,
		"cluster.machineadm.static_pods[0].name=two":                                                             false,
		"cluster.machineadm.enabled=false,cluster.machineadm.cgroup_driver=,cluster.machineadm.static_pods=null": true,
	} {
		if with := templates(machineadmOptions(t, "kubeadm-capd", set)); with.ControlPlane == plain.ControlPlane ||
			(with.Workers != plain.Workers) != both {
			t.Errorf("%s makes %v of %v", set, with, plain)
		}
	}
}

// startScript returns the script that starts machineadm.
func startScript(t *testing.T, env *environment.Environment) string {
	t.Helper()
	for _, o := range rendered(t, env) {
		if o.GetName() == "telco-cloud-init-machineadm" {
			text, _, _ := unstructured.NestedString(o.Object, "stringData", "start")
			script, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return string(script)
		}
	}
	t.Fatal("no Secret")
	return ""
}

// The script is one for any shell, whatever it is made of.
func TestMachineadmStartScript(t *testing.T) {
	for name, tc := range map[string]struct {
		sets []string
		want string
	}{
		"image": {[]string{"cluster.machineadm.source=image"}, "command -v machineadm"},
		"file":  {[]string{"cluster.machineadm.source=file:///srv/m"}, `cp "${place#file://}"`},
		"repository": {[]string{"cluster.machineadm.source=oci://r.example.org:5000/a/b"},
			`place="https://r.example.org:5000/v2/a/b/blobs/sha256:${digest}"`},
		"architecture": {nil, `place="https://example.org/${arch}/machineadm"`},
		"proxy": {[]string{"proxies.https_proxy=http://us'er:p@proxy:3128"},
			`export https_proxy='http://us'\''er:p@proxy:3128'`},
	} {
		script := startScript(t, load(t, machineadmOptions(t, "kubeadm-capd", tc.sets...)))
		if !strings.Contains(script, tc.want) {
			t.Errorf("%s: no %s in %s", name, tc.want, script)
		}
		check := exec.CommandContext(t.Context(), "sh", "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", name, err, out, script)
		}
	}
}

// What no machine could run is refused.
func TestMachineadmThatIsRefused(t *testing.T) {
	file := func(path string) string {
		return ",cluster.machines.files[0].path=" + path + ",cluster.machines.files[0].content=a"
	}
	pod := func(name string) string {
		const at = ",cluster.machineadm.static_pods[0]."
		return at + "name=" + name + at + "content=x"
	}
	refuses(t, "cluster.machineadm.", map[string]refusedValue{
		"no digest":      {"", "enabled=true,cluster.machineadm.source=https://example.org/m", "sha256 is empty"},
		"a login":        {"", "source=https://user:password@example.org/m", "/cluster/machineadm/source"},
		"quotes":         {"", `source=https://example.org/$(id)`, "/cluster/machineadm/source"},
		"not enabled":    {"", "cgroup_driver=systemd", "cluster.machineadm.cgroup_driver is given, but"},
		"RKE2":           {"rke2-capd", "enabled=true,cluster.machineadm.cgroup_driver=systemd", "RKE2 has its own"},
		"no Pod":         {"", "enabled=true" + pod("a"), "staticPods[0].content"},
		"kubeadm's Pod":  {"", "enabled=true" + pod("etcd"), "etcd is a Pod of kubeadm"},
		"its own folder": {"", "enabled=true" + file("/etc/machineadm/start"), "which cluster-init"},
		"a mirror": {"", "enabled=true,cluster.registry_mirrors[0].host=docker.io,cluster.registry_mirrors[0].url=http://m" +
			file("/etc/containerd/certs.d/docker.io/hosts.toml"), "which cluster-init"},
		"too large for OpenStack": {"kubeadm-capo", "enabled=true,cluster.machineadm.static_pods[0].name=a," +
			"cluster.machineadm.static_pods[0].content=" + strings.Repeat("x", 25000), "has room for 24576"},
		"no certificates": {"", "enabled=true,cluster.trusted_cas=" + caCert, "certificateAuthorities: certificate 1"},
	})
}

// Without machineadm its places are the user's.
func TestPlacesOfMachineadm(t *testing.T) {
	load(t, environment.Options{Sets: []string{"cluster.machines.files[0].path=/usr/local/sbin/kubeadm",
		"cluster.machines.files[0].content=a"}})
}
