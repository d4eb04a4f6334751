//go:build e2e

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMatrixIgnition has kubeadm's machines boot with Ignition, a worker among them.
func TestMatrixIgnition(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle, "--set", "cluster.bootstrap_format=ignition", "--set",
		"cluster.worker.replicas=1"}
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	l.built(t, management)
	t.Run("bootstrap data is what Ignition accepts", func(t *testing.T) { management.ignites(t, 2) })
	t.Run("up again changes nothing", func(t *testing.T) { l.idle(t, management, up) })
	t.Run("cleanup shows and deletes", func(t *testing.T) { cleanup(t, l) })
}

// ignites holds the bootstrap data of every machine against Ignition's own validator, and sees that the machine was set
// up with it.
func (c cluster) ignites(t *testing.T, count int) {
	t.Helper()
	validator := ignitionValidator(t)
	if out, err := validate(validator, []byte(
		`{"ignition":{"version":"2.3.0"},"storage":{"files":[{"filesystem":"root","path":"relative"}]}}`)); err == nil {
		t.Fatalf("the validator accepts what is wrong: %s", out)
	}
	machines := c.list(t, "cluster.x-k8s.io", "v1beta2", "Machine")
	if len(machines) != count {
		t.Errorf("%d machines, want %d", len(machines), count)
	}
	for _, m := range machines {
		name, _, _ := unstructured.NestedString(m.Object, "spec", "bootstrap", "dataSecretName")
		secret := &corev1.Secret{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: m.GetNamespace(), Name: name}, secret); err != nil {
			t.Fatal(err)
		}
		if format := string(secret.Data["format"]); format != "ignition" {
			t.Errorf("%s: the format is %q", m.GetName(), format)
		}
		if out, err := validate(validator, secret.Data["value"]); err != nil {
			t.Errorf("%s: Ignition does not accept it: %v: %s", m.GetName(), err, out)
		}
		files, units := contentOf(t, secret.Data["value"])
		for _, want := range []string{"/etc/kubeadm.sh", "/etc/kubeadm.yml",
			"/etc/kubernetes/patches/kubeletconfiguration0+strategic.json",
			"/etc/containerd/certs.d/registry.k8s.io/hosts.toml"} {
			if !slices.Contains(files, want) {
				t.Errorf("%s: %s is not among the files %q", m.GetName(), want, files)
			}
		}
		if !slices.Contains(units, "kubeadm.service") {
			t.Errorf("%s: the units are %q", m.GetName(), units)
		}
		// Only Ignition has a unit for it.
		state := docker(t, "exec", m.GetName(), "systemctl", "show", "--property=LoadState,Result,ExecMainStatus",
			"kubeadm.service")
		for _, want := range []string{"LoadState=loaded", "Result=success", "ExecMainStatus=0"} {
			if !strings.Contains(state, want) {
				t.Errorf("%s: kubeadm.service is not %s: %s", m.GetName(), want, state)
			}
		}
	}
}

// ignitionValidator builds ignition-validate of the release with which Cluster API makes Ignition.
func ignitionValidator(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "ignition-validate")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/flatcar/ignition/validate")
	build.Dir = "lab/modules/cluster-api"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building Ignition's validator: %v: %s", err, out)
	}
	return binary
}

// validate gives the validator a configuration, which may hold secrets, on its standard input.
func validate(validator string, config []byte) (string, error) {
	command := exec.Command(validator, "-")
	command.Stdin = strings.NewReader(string(config))
	out, err := command.CombinedOutput()
	return string(out), err
}

// contentOf returns the paths of the files and the names of the units that a configuration brings.
func contentOf(t *testing.T, config []byte) (files, units []string) {
	t.Helper()
	var read struct {
		Ignition struct{ Version string }
		Storage  struct{ Files []struct{ Path string } }
		Systemd  struct{ Units []struct{ Name string } }
	}
	if err := json.Unmarshal(config, &read); err != nil {
		t.Fatal(err)
	}
	if read.Ignition.Version != "2.3.0" {
		t.Errorf("it is of Ignition %s", read.Ignition.Version)
	}
	for _, f := range read.Storage.Files {
		files = append(files, f.Path)
	}
	for _, u := range read.Systemd.Units {
		units = append(units, u.Name)
	}
	return files, units
}
