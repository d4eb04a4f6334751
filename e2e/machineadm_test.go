//go:build e2e

package e2e

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// program is machineadm at an address that machines reach.
type program struct{ path, source, digest string }

// copyTo copies it for all to run.
func (p program) copyTo(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(p.path)
	must(t, err)
	must(t, os.WriteFile(path, content, 0o755))
}

// newProgram builds machineadm and serves it.
func newProgram(t *testing.T) program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "machineadm")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path,
		"../cmd/machineadm")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(path)
	must(t, err)
	if len(content) > 10<<20 {
		t.Errorf("machineadm has %d bytes", len(content))
	}
	address := "http://" + expose(t, http.FileServer(http.Dir(filepath.Dir(path))))
	sum := sha256.Sum256(content)
	return program{path, address + "/machineadm", hex.EncodeToString(sum[:])}
}

// values enable machineadm of that digest, with a static Pod for control planes.
func (p program) values(digest string) map[string]any {
	return map[string]any{"enabled": true, "source": p.source, "sha256": map[string]any{"amd64": digest}}
}

// with returns values of machines with all settings, and changes of them.
func (p program) with(t *testing.T, digest string, change func(cluster, machines map[string]any)) string {
	t.Helper()
	values := machineSettings()
	cluster := values["cluster"].(map[string]any)
	cluster["machineadm"] = p.values(digest)
	change(cluster, cluster["machines"].(map[string]any))
	return valuesFile(t, values)
}

// TestMatrixMachineadm gives the first machine of a cluster what it cannot have, one thing after the other: the run
// says what, and kubeadm has not run. Then it gives it what is right, and a workload cluster the same by Ignition.
func TestMatrixMachineadm(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	program := newProgram(t)
	up := []string{"up", environmentName, "--bundle", l.bundle, "--set", "cluster.bootstrap_formats={ignition}"}
	ended := func(digest, want string, change func(cluster, machines map[string]any)) string {
		values := program.with(t, digest, change)
		l.endsNaming(t, append(up, "--values", values), "io.x-k8s.kind.cluster="+l.name, want)
		return controlPlane(t, l.name)
	}
	const none = `test -z "$(ls /etc/kubernetes/manifests)"`
	machine := ended(program.digest, "set kernel parameter net.e2e_nope: the kernel does not have it",
		func(_, machines map[string]any) { machines["sysctls"] = map[string]any{"net.e2e_nope": 1} })
	has(t, machine, map[string]string{"no manifests": none})
	another := strings.Repeat("0", 64)
	machine = ended(another, "is "+program.digest+", want "+another, func(_, _ map[string]any) {})
	has(t, machine, map[string]string{"no manifests": none, "no machineadm": "test ! -e /opt/machineadm/bin/machineadm"})
	var secrets []string
	machine = ended(program.digest, "kubeadm init, phase preflight: [ERROR FileAvailable--etc-kubernetes-",
		func(cluster, machines map[string]any) {
			secrets = seeds(cluster)
			machines["pre_commands"] = []any{
				"mkdir -p /etc/kubernetes/manifests && touch /etc/kubernetes/manifests/etcd.yaml"}
		})
	reportsNone(t, machine, secrets)
	good := program.with(t, program.digest, func(cluster, _ map[string]any) {
		cluster["machineadm"].(map[string]any)["static_pods"] = []any{map[string]any{"name": "e2e", "content": staticPod}}
	})
	if code, _ := l.run(t, append(up, "--values", good)...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	l.management(t).managesItself(t)
	l.keepsContract(t, program)
	hasMachineSettings(t, controlPlane(t, l.name))
	hasKubernetesSettings(t, controlPlane(t, l.name))
	hasReport(t, controlPlane(t, l.name), "e2e")
	shop := workloadName + "/" + workloadName
	apply := append([]string{"workload", "apply"}, l.workloadDefinition("--values", good, "--set",
		"cluster.bootstrap_format=ignition")...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	l.hasReadyNode(t, shop)
	hasMachineSettings(t, controlPlane(t, workloadName))
	hasKubernetesSettings(t, controlPlane(t, workloadName))
	hasReport(t, controlPlane(t, workloadName), "e2e")
	l.deleteWorkload(t, shop, []string{"--in", l.name})
	cleanup(t, l)
}

// staticPod needs no image: the kubelet shows it to the API server even if it cannot start it.
const staticPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"e2e","namespace":"kube-system"},` +
	`"spec":{"hostNetwork":true,"containers":[{"name":"a","image":"e2e.invalid/{{ a }}:v1","imagePullPolicy":"Never"}]}}`

// seeds gives the static Pod of a cluster 50 secrets, and returns them.
func seeds(cluster map[string]any) []string {
	var all []string
	var env []any
	for i := range 50 {
		all = append(all, fmt.Sprintf("s3cret%dOf%s", i, rand.Text()))
		env = append(env, map[string]any{"name": fmt.Sprintf("TOKEN_%d", i), "value": all[i]})
	}
	content, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "e2e"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a", "env": env}}}}) // never fails
	cluster["machineadm"].(map[string]any)["static_pods"] = []any{
		map[string]any{"name": "e2e", "content": string(content)}}
	return all
}

// reportsNone sees that a machine reports none of the secrets.
func reportsNone(t *testing.T, machine string, seeds []string) {
	t.Helper()
	said := docker(t, "logs", machine) + docker(t, "exec", machine, "sh", "-c", "cat "+machineadm.ReportPath+
		"; journalctl --no-pager")
	for i, seed := range seeds {
		if strings.Contains(said, seed) {
			t.Errorf("%s reports secret %d", machine, i)
		}
	}
}

// hasReport sees that a machine reports success, and that it has a static Pod, if one is named.
func hasReport(t *testing.T, machine, pod string) {
	t.Helper()
	var report machineadm.Report
	must(t, json.Unmarshal([]byte(docker(t, "exec", machine, "cat", machineadm.ReportPath)), &report))
	if report.Result != machineadm.Succeeded || report.Kubeadm == nil || report.Kubeadm.ExitCode != 0 {
		t.Errorf("%s reports %+v", machine, report)
	}
	if console := docker(t, "logs", machine); !strings.Contains(console, "machineadm[v1]: succeeded: kubeadm init") {
		t.Errorf("%s says on its console: %s", machine, console)
	}
	has(t, machine, map[string]string{
		"a line in the journal": "journalctl --identifier=machineadm --no-pager | grep 'machineadm.v1.: succeeded'"})
	if pod != "" {
		has(t, machine, map[string]string{"the static Pod": fmt.Sprintf("KUBECONFIG=/etc/kubernetes/admin.conf kubectl "+
			"-n kube-system get pod %s-$(hostname)", pod)})
	}
}
