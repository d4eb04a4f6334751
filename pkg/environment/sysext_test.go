package environment_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// sumOfSysext looks like a number.
var sumOfSysext = "1e" + strings.Repeat("0", 126)

// sysextOf sets the system extension of a version.
func sysextOf(version, url, sum string) string {
	at := "cluster.kubernetes_sysext." + strings.ReplaceAll(version, ".", `\.`)
	return at + ".url=" + url + "," + at + ".sha512=" + sum
}

// sysextOptions are for an environment with files of two versions, and a system extension of the first.
func sysextOptions(t *testing.T, name string, sets ...string) environment.Options {
	t.Helper()
	at := folder(t, map[string]string{"files.yaml": filesOfKubernetes})
	return environment.Options{Name: name, Variables: variables(allVariables()),
		ValuesFiles: []string{filepath.Join(at, "files.yaml")}, Sets: append([]string{"cluster.bootstrap_format=ignition",
			sysextOf("v1.36.4", "https://example.org/v1.36.4/kubernetes.raw", sumOfSysext)}, sets...)}
}

func withSysext(t *testing.T, name string, sets ...string) *environment.Environment {
	t.Helper()
	return load(t, sysextOptions(t, name, sets...))
}

// containerLinuxConfig is what Ignition makes besides the files of the chart and of kubeadm.
type containerLinuxConfig struct {
	Storage map[string]any `json:"storage"`
	Systemd struct {
		Units []struct {
			Name    string `json:"name"`
			Enabled bool   `json:"enabled"`
			Dropins []struct {
				Name     string `json:"name"`
				Contents string `json:"contents"`
			} `json:"dropins"`
		} `json:"units"`
	} `json:"systemd"`
}

// additionalConfigs returns that of each kind, without the comments of units.
func additionalConfigs(t *testing.T, env *environment.Environment) map[string]containerLinuxConfig {
	t.Helper()
	all := map[string]containerLinuxConfig{}
	for kind, spec := range configurations(t, env) {
		text, _, _ := unstructured.NestedString(spec, "ignition", "containerLinuxConfig", "additionalConfig")
		strict, _, _ := unstructured.NestedBool(spec, "ignition", "containerLinuxConfig", "strict")
		var config containerLinuxConfig
		if err := yaml.UnmarshalStrict([]byte(text), &config); err != nil || !strict || spec["format"] != "ignition" {
			t.Fatalf("%s: %v, strict %t, format %v:\n%s", kind, err, strict, spec["format"], text)
		}
		for _, unit := range config.Systemd.Units {
			for i, dropin := range unit.Dropins {
				lines := slices.DeleteFunc(strings.SplitAfter(dropin.Contents, "\n"), func(line string) bool {
					return strings.HasPrefix(line, "#")
				})
				unit.Dropins[i].Contents = strings.Join(lines, "")
			}
		}
		all[kind] = config
	}
	return all
}

// Ignition fetches the system extension of the version by its digest, and machineadm installs nothing.
func TestSysextOfKubernetes(t *testing.T) {
	const place = "/opt/extensions/kubernetes/kubernetes-v1.36.4.raw"
	want := map[string]any{
		"files": []any{map[string]any{"path": place, "filesystem": "root", "mode": float64(0o644),
			"contents": map[string]any{"remote": map[string]any{"url": "https://example.org/v1.36.4/kubernetes.raw",
				"verification": map[string]any{"hash": map[string]any{"function": "sha512", "sum": sumOfSysext}}}}}},
		"links": []any{map[string]any{"path": "/etc/extensions/kubernetes.raw", "filesystem": "root", "target": place,
			"hard": false}},
	}
	for _, name := range []string{"kubeadm-capo", "kubeadm-capa"} {
		t.Run(name, func(t *testing.T) {
			env := withSysext(t, name)
			other := additionalConfigs(t, withSysext(t, name, "cluster.kubernetes_version=v1.35.6"))
			image := additionalConfigs(t, withSysext(t, name, "cluster.kubernetes_source=image"))
			for kind, config := range additionalConfigs(t, env) {
				if diff := cmp.Diff(want, config.Storage); diff != "" {
					t.Errorf("%s (-want +got):\n%s", kind, diff)
				}
				if diff := cmp.Diff(other[kind].Systemd, config.Systemd); diff != "" || len(config.Systemd.Units) != 1 {
					t.Errorf("%s: other units than without it (-want +got):\n%s", kind, diff)
				}
				if other[kind].Storage != nil || image[kind].Storage != nil {
					t.Errorf("%s: another version has %v, an image %v", kind, other[kind].Storage, image[kind].Storage)
				}
			}
			installsNothing(t, env)
		})
	}
}

// installsNothing sees that machineadm leaves Kubernetes to others, and compares its version.
func installsNothing(t *testing.T, env *environment.Environment) {
	t.Helper()
	configs, err := env.MachineConfigs()
	if err != nil || len(configs) != 2 {
		t.Fatal(len(configs), err)
	}
	for role, text := range configs {
		config, err := machineadm.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(config.Kubernetes.Files) > 0 || config.Kubernetes.Version != "v1.36.4" ||
			config.Sysctls["net.ipv4.ip_forward"] != "1" {
			t.Errorf("%s: %+v, %v", role, config.Kubernetes, config.Sysctls)
		}
	}
	for kind, spec := range configurations(t, env) {
		commands, _, _ := unstructured.NestedStringSlice(spec, "preKubeadmCommands")
		if !slices.Contains(commands, "export PATH=/opt/machineadm/bin:$PATH") {
			t.Errorf("%s runs %q", kind, commands)
		}
	}
}

// Another system extension of the version replaces all machines, one of another version none.
func TestAnotherSysextReplacesMachines(t *testing.T) {
	const url = "https://example.org/v1.36.4/kubernetes.raw"
	for _, name := range []string{"kubeadm-capo", "kubeadm-capa"} {
		templates := func(sets ...string) environment.Templates {
			all, err := withSysext(t, name, sets...).Templates()
			if err != nil {
				t.Fatal(err)
			}
			return all[0].Templates
		}
		plain := templates()
		for set, replaces := range map[string]bool{
			sysextOf("v1.36.4", url, strings.Repeat("a", 128)):     true,
			sysextOf("v1.36.4", url+"2", sumOfSysext):              true,
			sysextOf("v1.35.6", url+"2", strings.Repeat("a", 128)): false,
		} {
			if with := templates(set); (with.ControlPlane != plain.ControlPlane) != replaces ||
				(with.Workers != plain.Workers) != replaces {
				t.Errorf("%s, %s: %v of %v", name, set, with, plain)
			}
		}
	}
}

func TestSysextThatIsRefused(t *testing.T) {
	const (
		boot     = "cluster.machineadm.enabled=true,cluster.kubernetes_source=boot,"
		ignition = boot + "cluster.bootstrap_format=ignition,"
		url      = "https://example.org/kubernetes.raw"
		value    = "/cluster/kubernetes_sysext"
	)
	given := sysextOf("v1.36.4", url, sumOfSysext)
	file := func(path string) string {
		return ",cluster.machines.files[0].content=a,cluster.machines.files[0].path=" + path
	}
	refuses(t, "", map[string]refusedValue{
		"cloud-config": {"kubeadm-capo", boot + given,
			"cluster.kubernetes_sysext is given, but cluster.bootstrap_format is cloud-config"},
		"the provider for Docker": {"", ignition + given, "cluster.kubernetes_sysext is given, but the provider for Docker"},
		"another version": {"kubeadm-capo", ignition + sysextOf("v1.35.6", url, sumOfSysext),
			"not known (known: v1.35.6)"},
		"no machineadm": {"kubeadm-capo", "cluster.kubernetes_source=boot,cluster.bootstrap_format=ignition," + given,
			"cluster.machineadm.enabled is false"},
		"a file in its place": {"kubeadm-capo", ignition + given + file("/etc/extensions/kubernetes.raw"),
			"which cluster-init"},
		"capitals":               {"kubeadm-capo", sysextOf("v1.36.4", url, strings.Repeat("A", 128)), value},
		"a short digest":         {"kubeadm-capo", sysextOf("v1.36.4", url, strings.Repeat("a", 127)), value},
		"no digest":              {"kubeadm-capo", `cluster.kubernetes_sysext.v1\.36\.4.url=` + url, value},
		"another protocol":       {"kubeadm-capo", sysextOf("v1.36.4", "ftp://example.org/a", sumOfSysext), value},
		"a space":                {"kubeadm-capo", sysextOf("v1.36.4", url+" a", sumOfSysext), value},
		"a quote":                {"kubeadm-capo", sysextOf("v1.36.4", url+`"`, sumOfSysext), value},
		"a version without v":    {"kubeadm-capo", sysextOf("1.36.4", url, sumOfSysext), value},
		"a version with a slash": {"kubeadm-capo", sysextOf("v1.36.4/..", url, sumOfSysext), value},
	})
}
