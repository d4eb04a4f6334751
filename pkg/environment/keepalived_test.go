package environment_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

const keepalivedFolder = "/etc/cluster-init.io/keepalived/"

// controlPlaneFiles are the files of control-plane machines, by path.
func controlPlaneFiles(t *testing.T, sets ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, object := range applied(t, capo(t, "kubeadm-capo", nil, sets...), "cluster") {
		if object.GetKind() != "KubeadmControlPlane" {
			continue
		}
		files, _, err := unstructured.NestedSlice(object.Object, "spec", "kubeadmConfigSpec", "files")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			file := file.(map[string]any)
			all[file["path"].(string)], _ = file["content"].(string)
		}
	}
	return all
}

func virtualAddress(sets ...string) []string {
	return append(slices.Clone(openstackCases()["kubeadm-capo.vip"].sets), sets...)
}

// program writes a stand-in for a program into a folder.
func program(t *testing.T, folder, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// routes are a file like /proc/net/route of the lines, each with an interface, a destination, a mask and a metric.
func routes(lines ...[4]string) string {
	text := "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	for _, line := range lines {
		text += fmt.Sprintf("%s\t%s\t00000000\t0001\t0\t0\t%s\t%s\t0\t0\t0   \n", line[0], line[1], line[3], line[2])
	}
	return text
}

// keepalived runs at the interface that the kernel would reach the address through.
func TestKeepalivedRunsAtTheInterfaceOfTheAddress(t *testing.T) {
	byDefault, subnet := [4]string{"ens3", "00000000", "00000000", "100"}, [4]string{"ens4", "0000000A", "00FFFFFF", "0"}
	larger := [4]string{"ens5", "0000000A", "000000FF", "0"}
	pod := [4]string{"cali1", "0A00000A", "FFFFFFFF", "0"}
	blackhole := [4]string{"*", "0000000A", "00FFFFFF", "0"}
	for name, tc := range map[string]struct {
		address string
		routes  string
		want    string // empty: none
	}{
		"only the default route":    {"10.0.0.9", routes(byDefault), "ens3"},
		"the subnet's":              {"10.0.0.9", routes(byDefault, subnet), "ens4"},
		"the subnet's first":        {"10.0.0.9", routes(subnet, byDefault), "ens4"},
		"the longest prefix":        {"10.0.0.9", routes(byDefault, larger, subnet, pod), "ens4"},
		"another subnet":            {"10.0.1.9", routes(byDefault, subnet), "ens3"},
		"the first of two alike":    {"10.0.0.9", routes(subnet, [4]string{"ens9", subnet[1], subnet[2], "9"}), "ens4"},
		"a blackhole leads nowhere": {"10.0.0.9", routes(byDefault, blackhole), "ens3"},
		"no default route":          {"10.0.0.9", routes(subnet), "ens4"},
		"no route":                  {"10.0.1.9", routes(subnet), ""},
		"no routes":                 {"10.0.0.9", routes(), ""},
		"a prefix within a byte": {"192.168.200.250", routes(byDefault, [4]string{"eth7", "00C0A8C0", "00F0FFFF", "0"}),
			"eth7"},
		"outside of it": {"192.168.176.250", routes(byDefault, [4]string{"eth7", "00C0A8C0", "00F0FFFF", "0"}),
			"ens3"},
	} {
		t.Run(name, func(t *testing.T) {
			files, folder := controlPlaneFiles(t, virtualAddress("cluster.openstack.api_server.fixed_ip="+tc.address)...),
				t.TempDir()
			program(t, folder, "keepalived", `echo "$@"; cat "$5"; rm "$5"`)
			program(t, folder, "sleep", "exit 0")
			for file, content := range map[string]string{"start": files[keepalivedFolder+"start"],
				"keepalived.conf": files[keepalivedFolder+"keepalived.conf"], "routes": tc.routes} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			start := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(folder, "start"),
				filepath.Join(folder, "routes"))
			start.Env = []string{"PATH=" + folder + ":/usr/bin:/bin", "TMPDIR=" + folder}
			out, err := start.CombinedOutput()
			if tc.want == "" {
				if err == nil || !strings.Contains(string(out), "no route leads to "+tc.address) {
					t.Errorf("%v, %s", err, out)
				}
				return
			}
			if err != nil || !strings.Contains(string(out), "  interface "+tc.want+"\n") ||
				!strings.Contains(string(out), "    "+tc.address+"/32\n") ||
				!strings.HasPrefix(string(out), "--vrrp --dont-fork --log-console --use-file "+folder) {
				t.Errorf("%v, want interface %s:\n%s", err, tc.want, out)
			}
		})
	}
}

// The check is the answer of the machine's own API server.
func TestKeepalivedChecksTheMachinesOwnAPIServer(t *testing.T) {
	folder := t.TempDir()
	check := filepath.Join(folder, "check")
	content := controlPlaneFiles(t, virtualAddress()...)[keepalivedFolder+"check"]
	if err := os.WriteFile(check, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	for code, script := range map[int]string{
		0:  `case "$*" in *"--fail"*" https://127.0.0.1:6443/readyz") ;; *) exit 2 ;; esac`,
		22: "exit 22", 28: "exit 28"} {
		program(t, folder, "curl", script)
		run := exec.CommandContext(t.Context(), "/bin/sh", check)
		run.Env = []string{"PATH=" + folder}
		out, err := run.CombinedOutput()
		if got := run.ProcessState.ExitCode(); got != code {
			t.Errorf("exit code %d, want %d (%v, %s)", got, code, err, out)
		}
	}
}

// The Pod has no rights but those that keepalived needs, and no text of the files is a template to cloud-init or Flux.
func TestKeepalivedIsAStaticPod(t *testing.T) {
	files := controlPlaneFiles(t, virtualAddress("cluster.openstack.api_server.vrrp_router_id=77")...)
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(files["/etc/kubernetes/manifests/keepalived.yaml"]), &pod); err != nil {
		t.Fatal(err)
	}
	container := pod.Spec.Containers[0]
	if !pod.Spec.HostNetwork || container.Image != "registry.example.org/keepalived:2.2.7" ||
		!slices.Equal(container.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		slices.Contains(container.SecurityContext.Capabilities.Add, "SYS_ADMIN") ||
		!slices.Equal(container.Command, []string{"/bin/sh", keepalivedFolder + "start", "/proc/net/route"}) ||
		!container.VolumeMounts[0].ReadOnly {
		t.Errorf("%+v", pod)
	}
	if conf := files[keepalivedFolder+"keepalived.conf"]; !strings.Contains(conf, "virtual_router_id 77\n") {
		t.Errorf("another router:\n%s", conf)
	}
	if len(files) != 5 {
		t.Errorf("the machines have the files %v", files)
	}
	for path, content := range files {
		for _, token := range []string{"{{", "{%", "{#", "${"} {
			if strings.Contains(content, token) {
				t.Errorf("%s has %s", path, token)
			}
		}
	}
	if workers := toYAML(t, applied(t, capo(t, "kubeadm-capo", nil, virtualAddress()...), "cluster")); strings.Count(
		string(workers), "keepalived.conf\n") != 1 {
		t.Error("workers have keepalived, too")
	}
	if fixed := controlPlaneFiles(t, openstackCases()["kubeadm-capo.fixed-ip"].sets...); len(fixed) != 1 {
		t.Errorf("mode fixed-ip has the files %v", fixed)
	}
}

// Other files of the control plane replace its machines, and only those.
func TestAnotherKeepalivedReplacesTheControlPlane(t *testing.T) {
	templates := func(sets ...string) environment.Templates {
		all, err := capo(t, "kubeadm-capo", nil, virtualAddress(sets...)...).Templates()
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Templates
	}
	before, after := templates(), templates("cluster.openstack.api_server.keepalived_image=other:1")
	if before.ControlPlane == after.ControlPlane || before.Workers != after.Workers {
		t.Errorf("%+v, was %+v", after, before)
	}
}

func TestBadInputForAVirtualAddress(t *testing.T) {
	const at = "cluster.openstack."
	for name, tc := range map[string]struct {
		sets    []string
		message string
	}{
		"no address":           {[]string{at + "api_server.fixed_ip="}, "mode is vip, but fixed_ip is empty"},
		"no image":             {[]string{at + "api_server.keepalived_image="}, "keepalived_image is empty"},
		"an image with spaces": {[]string{at + "api_server.keepalived_image=a b"}, "keepalived_image"},
		"a network that is made": {[]string{at + "network=", at + "subnet="},
			"mode is vip, but network is empty"},
		"RKE2": {[]string{"cluster.bootstrap_provider=rke2", "components.cabpr.enabled=true",
			"cluster.kubernetes_version=v1.36.4+rke2r1"}, "only kubeadm's machines run keepalived"},
		"no address at all":    {[]string{at + "api_server.fixed_ip=10.0.0.256"}, "10.0.0.256, which is not an IPv4 address"},
		"a router number of 0": {[]string{at + "api_server.fixed_ip=10.0.1.0"}, "vrrp_router_id is 0"},
		"too large a number":   {[]string{at + "api_server.vrrp_router_id=256"}, "vrrp_router_id"},
		"a floating IP": {[]string{at + "api_server.floating_ip=203.0.113.7"},
			"for the modes floating-ip and octavia"},
		"one that cluster-init would make": {[]string{at + "api_server.managed_floating_ip=203.0.113.7"},
			"managed_floating_ip"},
		"keepalived in another mode": {[]string{at + "api_server.mode=fixed-ip"}, "for mode vip only"},
		"a number in another mode": {[]string{at + "api_server.mode=fixed-ip", at + "api_server.keepalived_image=",
			at + "api_server.vrrp_router_id=7"}, "vrrp_router_id"},
		"a file in its place": {[]string{"cluster.machines.files[0].path=/etc/kubernetes/manifests/keepalived.yaml",
			"cluster.machines.files[0].content=x"}, "which cluster-init writes in mode vip"},
		"a static Pod of its name": {[]string{"cluster.machineadm.enabled=true",
			"cluster.machineadm.static_pods[0].name=keepalived", "cluster.machineadm.static_pods[0].content=x"},
			"static_pods[0].name is keepalived"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capo",
				Content: clusterinit.Content(), Variables: variables(openstackVariables()),
				Sets: virtualAddress(tc.sets...)})
			if fault.CodeOf(err) != fault.ValuesInvalid || fault.HintOf(err) == "" ||
				!strings.Contains(err.Error()+fault.HintOf(err), tc.message) {
				t.Errorf("error %v with hint %q, want %q", err, fault.HintOf(err), tc.message)
			}
		})
	}
	// A number of its own makes up for an address that gives none.
	capo(t, "kubeadm-capo", nil, virtualAddress(at+"api_server.fixed_ip=10.0.1.0",
		at+"api_server.vrrp_router_id=255")...)
}
