package environment_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// filesOfKubernetes are the files of the default version, and of another one.
const filesOfKubernetes = `
cluster:
  machineadm: {enabled: true}
  kubernetes_source: boot
  kubernetes_files:
    v1.36.4:
      - {path: /usr/local/bin/kubeadm, sources: {amd64: {url: "https://example.org/kubeadm", sha256: ` +
	digestOfMachineadm + `}}}
      - {path: /opt/cni/bin, archive: true, sources: {amd64: {url: "https://example.org/cni.tgz", sha256: ` +
	digestOfMachineadm + `}}}
    v1.35.6:
      - {path: /usr/local/bin/kubeadm, sources: {amd64: {url: "https://example.org/old", sha256: ` +
	digestOfMachineadm + `}}}
`

// booted returns what machines install, and what identifies their templates.
func booted(t *testing.T, sets ...string) (machineadm.Kubernetes, environment.Templates) {
	t.Helper()
	at := folder(t, map[string]string{"files.yaml": filesOfKubernetes})
	env := load(t, environment.Options{ValuesFiles: []string{filepath.Join(at, "files.yaml")}, Sets: sets})
	configs, err := env.MachineConfigs()
	if err != nil {
		t.Fatal(err)
	}
	config, err := machineadm.Parse(configs["worker.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	if forwards := config.Sysctls["net.ipv4.ip_forward"] == "1"; forwards != (len(config.Kubernetes.Files) > 0) {
		t.Errorf("the kernel parameters are %v", config.Sysctls)
	}
	all, err := env.Templates()
	if err != nil {
		t.Fatal(err)
	}
	return *config.Kubernetes, all[0].Templates
}

// timeoutsOf returns how long the provider for docker waits for the bootstrap of machines.
func timeoutsOf(t *testing.T, source string) (all []string) {
	t.Helper()
	at := folder(t, map[string]string{"files.yaml": filesOfKubernetes})
	env := load(t, environment.Options{ValuesFiles: []string{filepath.Join(at, "files.yaml")},
		Sets: []string{"cluster.kubernetes_source=" + source}})
	for _, o := range applied(t, env, "cluster") {
		if o.GetKind() == "DevMachineTemplate" {
			timeout, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "backend", "docker",
				"bootstrapTimeout")
			all = append(all, timeout)
		}
	}
	return all
}

// Machines install the files of their version, from where they are.
func TestKubernetesAtBoot(t *testing.T) {
	installed, plain := booted(t)
	files := installed.Files
	if installed.Mirror != "" || len(files) != 2 || files[0].Path != "/usr/local/bin/kubeadm" ||
		files[0].Archive || !files[1].Archive ||
		files[0].Sources["amd64"].URL != "https://example.org/kubeadm" {
		t.Errorf("%+v", files)
	}
	mirrored, _ := booted(t, "cluster.kubernetes_mirror=http://r:5000/v2/kubernetes/blobs/")
	if mirrored.Mirror != "http://r:5000/v2/kubernetes/blobs/" {
		t.Errorf("the mirror's address is %s", mirrored.Mirror)
	}
	byIgnition, _ := booted(t, "cluster.bootstrap_format=ignition")
	if ignition := byIgnition.Files; ignition[0].Path != "/opt/bin/kubeadm" || ignition[1].Path != "/opt/cni/bin" {
		t.Errorf("with Ignition: %+v", ignition)
	}
	if timeouts := timeoutsOf(t, "boot"); !slices.Equal(timeouts, []string{"20m", "20m"}) {
		t.Errorf("the provider for docker waits for %q", timeouts)
	}
	if timeouts := timeoutsOf(t, "image"); !slices.Equal(timeouts, []string{"", ""}) {
		t.Errorf("without boot the provider for docker waits for %q", timeouts)
	}
	image, ofImage := booted(t, "cluster.kubernetes_source=image")
	other, ofOther := booted(t, "cluster.kubernetes_version=v1.35.6")
	if len(image.Files) != 0 || len(other.Files) != 1 || ofImage == plain || ofOther == plain {
		t.Errorf("%+v, %+v", image, other)
	}
}

// What no machine could install is refused before anything is made.
func TestKubernetesAtBootThatIsRefused(t *testing.T) {
	refuses(t, "cluster.kubernetes_source=boot", map[string]refusedValue{
		"no machineadm": {"", "", "cluster.machineadm.enabled is false"},
		"no files":      {"", ",cluster.machineadm.enabled=true", "the files of that version are not known (known: none)"},
		"RKE2":          {"rke2-capd", ",cluster.machineadm.enabled=true", "RKE2 installs itself"},
	})
	at := folder(t, map[string]string{"files.yaml": filesOfKubernetes})
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Variables:   variables(allVariables()),
		ValuesFiles: []string{filepath.Join(at, "files.yaml")}, Sets: []string{"cluster.kubernetes_version=v1.36.9"}})
	if err == nil || !strings.Contains(err.Error(), "(known: v1.35.6, v1.36.4)") {
		t.Error(err)
	}
}
