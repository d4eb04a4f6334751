package environment_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

func TestImageOfRKE2Machines(t *testing.T) {
	cases := map[string]struct {
		sets []string
		want string
	}{
		"default": {nil,
			"kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed"},
		"of another version":    {[]string{"cluster.kubernetes_version=v1.35.4+rke2r2"}, "kindest/node:v1.35.4"},
		"the machines' own":     {[]string{"cluster.image=mine"}, "mine"},
		"RKE2's own goes first": {[]string{"cluster.image=mine", "cluster.rke2.image=rke2"}, "rke2"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			env := load(t, environment.Options{Name: "rke2-capd", Sets: test.sets})
			if got := env.Spec().Cluster.NodeImage(); got != test.want {
				t.Errorf("the environment says %s, want %s", got, test.want)
			}
			for _, kind := range []string{"control-plane", "workers"} {
				if got := machineImage(t, applied(t, env, "cluster"), kind); got != test.want {
					t.Errorf("the template of %s has %s, want %s", kind, got, test.want)
				}
			}
		})
	}
}

func machineImage(t *testing.T, objects []*unstructured.Unstructured, role string) string {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == "DevMachineTemplate" && strings.Contains(o.GetName(), "-"+role+"-") {
			image, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "backend", "docker",
				"customImage")
			return image
		}
	}
	t.Fatalf("no template of %s", role)
	return ""
}

// Whatever is in the machines changes the name of their templates: RKE2ConfigTemplate is not looked at again.
func TestTemplateHashFollowsRKE2(t *testing.T) {
	name := func(sets ...string) string {
		for _, o := range applied(t, load(t, environment.Options{Name: "rke2-capd", Sets: sets}), "cluster") {
			if o.GetKind() == "RKE2ConfigTemplate" {
				return o.GetName()
			}
		}
		t.Fatal("no RKE2ConfigTemplate")
		return ""
	}
	base := name()
	for set, changes := range map[string]bool{
		"cluster.worker.replicas=3": false, "cluster.control_plane.replicas=3": false, "debug_values=true": false,
		"cluster.rke2.air_gapped=true": true, "cluster.rke2.image=x": true, "cluster.rke2.cni=calico": true,
		"cni=custom": true,
		"cluster.kubernetes_version=v1.36.4+rke2r2": true, "proxies.http_proxy=http://p": true,
		"cluster.fail_cgroup_v1=true": true,
	} {
		if got := name(set) != base; got != changes {
			t.Errorf("--set %s: new templates %v, want %v", set, got, changes)
		}
	}
	mirror := []string{"cluster.registry_mirrors[0].host=a", "cluster.registry_mirrors[0].url=http://b"}
	if name(mirror...) == base {
		t.Error("a mirror changes nothing")
	}
}

// RKE2 takes the path of a mirror for the root of its API, containerd adds to it.
func TestMirrorsOfRKE2(t *testing.T) {
	env := load(t, environment.Options{Name: "rke2-capd", Sets: []string{
		"cluster.registry_mirrors[0].host=docker.io", "cluster.registry_mirrors[0].url=http://m:5000/v2/docker.io",
		"cluster.registry_mirrors[0].override_path=true",
		"cluster.registry_mirrors[1].host=quay.io", "cluster.registry_mirrors[1].url=https://m/quay/",
		"cluster.registry_mirrors[2].host=quay.io", "cluster.registry_mirrors[2].url=https://n",
	}})
	want := map[string][]string{"docker.io": {"http://m:5000/v2/docker.io"},
		"quay.io": {"https://m/quay/v2", "https://n"}}
	for _, o := range applied(t, env, "cluster") {
		path := map[string][]string{"RKE2ControlPlane": {"spec"}, "RKE2ConfigTemplate": {"spec", "template",
			"spec"}}[o.GetKind()]
		if path == nil {
			continue
		}
		mirrors, _, err := unstructured.NestedMap(o.Object, append(path, "privateRegistriesConfig", "mirrors")...)
		if err != nil || len(mirrors) != len(want) {
			t.Fatalf("%s: %v, %v", o.GetKind(), mirrors, err)
		}
		for host, endpoints := range want {
			got, _, _ := unstructured.NestedStringSlice(mirrors, host, "endpoint")
			if strings.Join(got, " ") != strings.Join(endpoints, " ") {
				t.Errorf("%s: %s has %q, want %q", o.GetKind(), host, got, endpoints)
			}
		}
	}
}

// The checksum is compared by a command of the machine; see the chart why.
func TestChecksumOfRKE2Artifacts(t *testing.T) {
	folder := t.TempDir()
	run := func(command string) error {
		return exec.Command("sh", "-c", strings.ReplaceAll(command, "/opt/rke2-artifacts", folder)).Run()
	}
	if err := run("echo 'abc  rke2.linux-amd64.tar.gz' > /opt/rke2-artifacts/sha256sum-amd64.txt"); err != nil {
		t.Fatal(err)
	}
	for sum, right := range map[string]bool{
		"0f8fd1c6de8c1ac5d22c3b1a1c07d0f21e0b2a6b54b7f2dba2e6aa1d2ad2a3a4": false,
		sha256Of(t, folder+"/sha256sum-amd64.txt"):                         true,
	} {
		env := load(t, environment.Options{Name: "rke2-capd", Sets: []string{"cluster.rke2.air_gapped=true",
			"cluster.rke2.air_gapped_checksum=" + sum}})
		found := 0
		for _, o := range applied(t, env, "cluster") {
			path := map[string][]string{"RKE2ControlPlane": {"spec"}, "RKE2ConfigTemplate": {"spec", "template",
				"spec"}}[o.GetKind()]
			commands, _, _ := unstructured.NestedStringSlice(o.Object, append(path, "preRKE2Commands")...)
			if len(path) == 0 || len(commands) != 2 {
				continue
			}
			found++
			if err := run(commands[1]); (err == nil) != right {
				t.Errorf("%s with %s: %v, want right %v", o.GetKind(), sum, err, right)
			}
		}
		if found != 2 {
			t.Errorf("%d of 2 sorts of machines compare the checksum", found)
		}
	}
}

func sha256Of(t *testing.T, file string) string {
	t.Helper()
	out, err := exec.Command("sha256sum", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))[0]
}

// TestLoadBalancerOfRKE2 fills the template in as the provider for docker does (its internal/loadbalancer).
func TestLoadBalancerOfRKE2(t *testing.T) {
	type server struct {
		Address string
		Weight  int
	}
	var text string
	for _, o := range applied(t, load(t, environment.Options{Name: "rke2-capd"}), "cluster") {
		if o.GetKind() != "ConfigMap" {
			continue
		}
		if _, moves := o.GetLabels()["clusterctl.cluster.x-k8s.io/move"]; !moves {
			t.Error("clusterctl would leave it behind")
		}
		text, _, _ = unstructured.NestedString(o.Object, "data", "value")
	}
	parsed, err := template.New("").Funcs(template.FuncMap{"JoinHostPort": net.JoinHostPort}).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = parsed.Execute(&out, map[string]any{"FrontendControlPlanePort": "6443", "BackendControlPlanePort": "6443",
		"IPv6":           true,
		"BackendServers": map[string]server{"a": {"10.0.0.2", 100}, "b": {"fd00::3", 0}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  bind *:6443", "  bind [::]:6443 v6only", "  bind *:9345", "  bind [::]:9345 v6only",
		"  server a 10.0.0.2:6443 weight 100", "  server b [fd00::3]:6443 weight 0",
		"  server a 10.0.0.2:9345 weight 100", "  server b [fd00::3]:9345 weight 0",
		"  http-check expect status 403", "  maxconn 4000",
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, &out)
		}
	}
}
