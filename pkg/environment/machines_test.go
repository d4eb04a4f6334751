package environment_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// settings are settings of machines, in texts that YAML, cloud-init or Flux could take for something else.
const settings = `
cluster:
  worker: {replicas: 1}
  machines:
    files:
      - {path: /opt/motd, content: "  {{ ds }} $${HOME} $x\n"}
      - {path: /opt/run, content: "#!/bin/sh\n", owner: "daemon:daemon", permissions: "0750"}
    pre_commands: ["echo $HOME", "test -e /opt/motd || exit 1"]
    post_commands: ["touch /run/after"]
    sysctls: {net.core.somaxconn: 4096, fs.inotify.max_user_watches: 1048576, kernel.core_pattern: "|/bin/false"}
    kernel_modules: [sctp, br_netfilter]
`

// ofSystem are settings of the operating system, which machines of Docker do not have.
const ofSystem = `
cluster:
  machines:
    ntp: {servers: [time.example.org]}
`

const users = ofSystem + `
    users:
      - {name: ops, ssh_authorized_keys: ["ssh-ed25519 AAAA ops"], groups: [adm, audio], sudo: "ALL=(ALL) NOPASSWD:ALL"}
`

// withSettings returns the options of a built-in environment with settings of machines.
func withSettings(t *testing.T, name string, sets ...string) environment.Options {
	t.Helper()
	files := map[string]string{"settings.yaml": settings, "users.yaml": users}
	switch {
	case strings.HasSuffix(name, "capd"):
		files["users.yaml"] = "{}"
	case strings.HasPrefix(name, "rke2"):
		files["users.yaml"] = ofSystem
	}
	at := folder(t, files)
	return environment.Options{Name: name, Variables: variables(allVariables()), Sets: sets, ValuesFiles: []string{
		filepath.Join(at, "settings.yaml"), filepath.Join(at, "users.yaml")}}
}

// Control plane and workers get the settings after what the chart gives them.
func TestMachineSettings(t *testing.T) {
	for name, sets := range map[string][]string{
		"kubeadm-capd": {"cluster.trusted_cas=" + caCert, "cluster.workers.gpu.replicas=1"}, "rke2-capd": nil,
		"kubeadm-capo": nil, "rke2-capo": nil, "kubeadm-capa": {"cluster.bootstrap_format=ignition"},
	} {
		t.Run(name, func(t *testing.T) {
			env := load(t, withSettings(t, name, sets...))
			before := load(t, environment.Options{Name: name, Variables: variables(allVariables()),
				Sets: append(sets, "cluster.worker.replicas=1")})
			objects := applied(t, env, "cluster")
			want := 2 // control plane and workers
			if name == "kubeadm-capd" {
				objects = append(objects, applied(t, env, "workers-gpu")...)
				want = 3
			}
			for _, o := range objects {
				if spec := configuration(o); spec != nil {
					want--
					hasSettings(t, name, o.GetKind(), spec)
				}
			}
			if want != 0 {
				t.Errorf("%d configurations of machines are missing", want)
			}
			if was, is := workersOf(t, before), workersOf(t, env); was.template == is.template ||
				was.controlPlane == is.controlPlane {
				t.Errorf("the settings leave the templates %+v", is)
			}
		})
	}
}

// configuration returns what a definition says of its machines. Nil means that o says nothing of them.
func configuration(o *unstructured.Unstructured) map[string]any {
	for kind, path := range map[string][]string{
		"KubeadmControlPlane": {"spec", "kubeadmConfigSpec"}, "KubeadmConfigTemplate": {"spec", "template", "spec"},
		"RKE2ControlPlane": {"spec"}, "RKE2ConfigTemplate": {"spec", "template", "spec"},
	} {
		if o.GetKind() == kind {
			spec, _, _ := unstructured.NestedMap(o.Object, path...)
			return spec
		}
	}
	return nil
}

// hasSettings sees the settings of withSettings in the configuration of an object of this kind.
func hasSettings(t *testing.T, name, kind string, spec map[string]any) {
	t.Helper()
	rke2, docker := strings.HasPrefix(name, "rke2"), strings.HasSuffix(name, "capd")
	pre, post, ntp := "preKubeadmCommands", "postKubeadmCommands", []string{"ntp", "servers"}
	if rke2 {
		pre, post, ntp = "preRKE2Commands", "postRKE2Commands", []string{"agentConfig", "ntp", "servers"}
	}
	contents, owners := contentOfFiles(spec), ownersOfFiles(spec)
	for path, want := range map[string][2]string{
		"/opt/motd": {"  {{ ds }} ${HOME} $x\n", "root:root 0644"}, "/opt/run": {"#!/bin/sh\n", "daemon:daemon 0750"},
		"/etc/modules-load.d/90-cluster-init.conf": {"sctp\nbr_netfilter\n", "root:root 0644"},
		"/etc/sysctl.d/90-cluster-init.conf": {"fs.inotify.max_user_watches = 1048576\n" +
			"kernel.core_pattern = |/bin/false\nnet.core.somaxconn = 4096\n", "root:root 0644"},
	} {
		if got := [2]string{contents[path], owners[path]}; got != want {
			t.Errorf("%s has %s as %q, want %q", kind, path, got, want)
		}
	}
	commands, _, _ := unstructured.NestedStringSlice(spec, pre)
	want := []string{"modprobe -a sctp br_netfilter || exit 1",
		"sysctl -p /etc/sysctl.d/90-cluster-init.conf || exit 1", "echo $HOME", "test -e /opt/motd || exit 1"}
	if len(commands) < len(want) || !slices.Equal(commands[len(commands)-len(want):], want) {
		t.Errorf("%s runs first %q, want last %q", kind, commands, want)
	}
	after, _, _ := unstructured.NestedStringSlice(spec, post)
	servers, _, _ := unstructured.NestedStringSlice(spec, ntp...)
	wantServers := []string{"time.example.org"}
	if docker {
		wantServers = nil
	}
	if !slices.Equal(after, []string{"touch /run/after"}) || !slices.Equal(servers, wantServers) {
		t.Errorf("%s runs at last %q, with the time servers %q", kind, after, servers)
	}
	if made, _, _ := unstructured.NestedSlice(spec, "users"); len(made) != 1 && !rke2 && !docker {
		t.Errorf("%s has the users %v", kind, made)
	}
}

// A key with the value null sets nothing.
func TestMachineSettingsOfNull(t *testing.T) {
	for _, set := range []string{"machines=null", "machines.ntp=null", "machines.sysctls=null", "machines.files=null"} {
		load(t, environment.Options{Sets: []string{"cluster." + set}})
	}
}

// Settings that a machine could not have are refused before anything is created.
func TestMachineSettingsThatAreRefused(t *testing.T) {
	file := func(path, content string) string {
		return "files[0].path=" + path + ",cluster.machines.files[0].content=" + content
	}
	const taken = "or the bootstrap provider writes"
	const mirror = "pre_commands={a},cluster.registry_mirrors[0].host=docker.io," +
		"cluster.registry_mirrors[0].url=http://mirror:5000,cluster.machines."
	const first, second = ",cluster.machines.files[0].", ",cluster.machines.files[1]."
	refuses(t, "cluster.machines.", map[string]refusedValue{
		"a relative path":       {"", file("opt/x", "x"), "does not match pattern"},
		"a file of the chart":   {"", file("/etc/sysctl.d/90-cluster-init.conf", "x"), taken},
		"a mirror of the chart": {"", mirror + file("/etc/containerd/certs.d/docker.io/hosts.toml", "x"), taken},
		"a file of the definition": {"", file("/etc/kubernetes/patches/kubeletconfiguration0+strategic.json", "x"),
			taken},
		"a file of kubeadm": {"", file("/etc/kubernetes/pki/ca.crt", "x"), taken},
		"a file of RKE2":    {"rke2-capd", file("/etc/rancher/rke2/config.yaml", "x"), taken},
		"a file twice": {"", file("/a", "x") + second + "path=/a" + second + "content=y",
			"files[1].path is /a, as is that of another file"},
		"a file above":         {"", file("/opt/../etc/kubernetes/pki/ca.crt", "x"), "has a part . or .."},
		"a path with a dot":    {"", file("/a/./b", "x"), "has a part . or .."},
		"a path with a colon":  {"", file("/a:", "x"), "ends in a colon"},
		"a path of cloud-init": {"", file("/a{{b}}", "x"), "does not match pattern"},
		"an empty file":        {"", file("/a", ""), "minLength"},
		"a file of a later user": {"kubeadm-capo", file("/a", "x") + first +
			"owner=ops:adm,cluster.machines.users[0].name=ops", "files[0].owner names ops, a user of"},
		"a rule with a colon and a space": {"kubeadm-capo", "users[0].name=ops,cluster.machines.users[0].sudo=" +
			"ALL=(ALL) NOPASSWD: ALL", "sudo': 'ALL=(ALL) NOPASSWD: ALL' does not match pattern"},
		"a rule with a comment": {"kubeadm-capo", "users[0].name=ops,cluster.machines.users[0].sudo=ALL=(ALL) ALL #x",
			"does not match pattern"},
		"a key with a colon": {"kubeadm-capo", "users[0].name=a,cluster.machines.users[0].ssh_authorized_keys=" +
			"{ssh-rsa AA a: b}", "ssh_authorized_keys/0': invalid value"},
		"a number that YAML rounds": {"", "sysctls.kernel\\.shmmax=9007199254740993", "maximum"},
		"a large file":              {"", file("/a", strings.Repeat("a", 7681)), "files[0].content has 7681 bytes"},
		"permissions without a zero": {"", file("/a", "x") + first + "permissions=644",
			"permissions': '644' does not match pattern"},
		"a sysctl of BSD":            {"", "sysctls.kern\\.maxfiles=1", "sysctls has kern.maxfiles, which"},
		"a sysctl with a line break": {"", "sysctls.vm\\.swappiness=1\n2", "does not match pattern"},
		"a module with a space":      {"", "kernel_modules={a b}", "does not match pattern"},
		"an empty command":           {"", "pre_commands[0]=", "minLength"},
		"a user of RKE2":             {"rke2-capo", "users[0].name=ops", "RKE2's provider makes no users"},
		"a user of Docker":           {"", "users[0].name=ops", "users is given, but machines of capd cannot have it"},
		"a time server of Docker":    {"rke2-capd", "ntp.servers={a}", "ntp.servers is given, but machines of capd"},
		"a user with a capital":      {"", "users[0].name=Ops", "does not match pattern"},
		"a key with a line break": {"", "users[0].name=a,cluster.machines.users[0].ssh_authorized_keys={ssh-rsa AA\nx}",
			"ssh_authorized_keys/0': invalid value"},
		"an unknown key":              {"", "swap=true", "additional properties 'swap' not allowed"},
		"a time server with a scheme": {"", "ntp.servers={ntp://a}", "does not match pattern"},
	})
}
