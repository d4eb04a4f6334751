package environment_test

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// pools are two further pools of workers; values of labels and taints are texts that YAML takes for something else.
const pools = `
cluster:
  worker: {replicas: 1}
  workers:
    gpu:
      replicas: 2
      labels: {example.org/gpu: "true", example.org/model: "0x1f", node-role.kubernetes.io/gpu: ""}
      taints: [{key: gpu, value: "true", effect: NoSchedule}, {key: slow, effect: PreferNoSchedule}]
    "1e3":
      annotations:
        cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: "1"
        cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "5"
      replicas: null
`

// withPools returns the options of a built-in environment with pools.
func withPools(t *testing.T, name string, sets ...string) environment.Options {
	t.Helper()
	return environment.Options{Name: name, Variables: variables(allVariables()), Sets: sets,
		ValuesFiles: []string{filepath.Join(folder(t, map[string]string{"pools.yaml": pools}), "pools.yaml")}}
}

func TestPools(t *testing.T) {
	for name, sets := range map[string][]string{
		"kubeadm-capd": nil, "rke2-capd": nil,
		"kubeadm-capo": {"cluster.workers.gpu.flavor=m1.gpu"},
		"rke2-capo":    {"cluster.workers.gpu.flavor=7a1c5e0a-0000-4000-8000-000000000001"},
		"kubeadm-capa": {"cluster.workers.gpu.flavor=g5.xlarge"},
	} {
		t.Run(name, func(t *testing.T) {
			env := load(t, withPools(t, name, sets...))
			rendered, err := env.Render(environment.Management, nil)
			if err != nil {
				t.Fatal(err)
			}
			out := slices.DeleteFunc(rendered, func(o *unstructured.Unstructured) bool {
				return name != "kubeadm-capd" || o.GetName() != "workers-gpu" // once is enough
			})
			out = append(out, applied(t, env, "workers-1e3")...)
			out = append(out, applied(t, env, "workers-gpu")...)
			golden.Check(t, filepath.Join("pools", name+".yaml"), toYAML(t, out))
			if with, without := applied(t, env, "cluster"), applied(t, load(t, environment.Options{Name: name,
				Variables: variables(allVariables()), Sets: []string{"cluster.worker.replicas=1"}}),
				"cluster"); !bytes.Equal(toYAML(t, with), toYAML(t, without)) {
				t.Error("further pools change the control plane or the pool workers")
			}
		})
	}
}

// What is set for the pool workers is in its templates, under another name, and the control plane keeps its own.
func TestPoolOfTheDefinition(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "rke2-capd", "kubeadm-capo", "rke2-capo", "kubeadm-capa"} {
		t.Run(name, func(t *testing.T) {
			ordinary := load(t, environment.Options{Name: name, Variables: variables(allVariables()),
				Sets: []string{"cluster.worker.replicas=3"}})
			env := load(t, environment.Options{Name: name, Variables: variables(allVariables()), Sets: []string{
				"cluster.worker.replicas=null", `cluster.worker.labels.example\.org/site=`,
				"cluster.worker.taints[0].key=site,cluster.worker.taints[0].effect=NoExecute"}})
			synced := load(t, environment.Options{Name: name, Variables: variables(allVariables()), Sets: []string{
				"cluster.worker.replicas=3", `cluster.worker.labels.node-role\.kubernetes\.io/edge=`}})
			was, is, same := workersOf(t, ordinary), workersOf(t, env), workersOf(t, synced)
			if is.template == was.template || is.controlPlane != was.controlPlane {
				t.Errorf("templates %+v, before %+v", is, was)
			}
			if was.replicas != "3" || is.replicas != "" {
				t.Errorf("%q and %q machines, want 3 and no number", was.replicas, is.replicas)
			}
			if same.template != was.template || same.labels["node-role.kubernetes.io/edge"] != "" ||
				len(same.labels) != len(was.labels)+1 {
				t.Errorf("with a label that Cluster API sets: %+v", same)
			}
			if !strings.Contains(is.config, "example.org/site=") || !strings.Contains(is.config, "NoExecute") {
				t.Errorf("no label or taint: %s", is.config)
			}
		})
	}
}

// workers is what a definition has of its pool workers.
type workers struct {
	template, controlPlane, replicas, config string
	labels                                   map[string]string
}

func workersOf(t *testing.T, env *environment.Environment) workers {
	t.Helper()
	var w workers
	for _, o := range applied(t, env, "cluster") {
		name := o.GetName()
		switch kind := o.GetKind(); {
		case kind == "MachineDeployment":
			w.labels, _, _ = unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
			w.template, _, _ = unstructured.NestedString(o.Object, "spec", "template", "spec", "infrastructureRef", "name")
			if n, has, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); has {
				w.replicas = strconv.FormatInt(n, 10)
			}
		case strings.HasSuffix(kind, "ConfigTemplate"):
			w.config = string(toYAML(t, []*unstructured.Unstructured{o}))
		case strings.HasSuffix(kind, "MachineTemplate") && strings.Contains(name, "-control-plane-"):
			w.controlPlane = name
		}
	}
	return w
}

// Pools that could not be are refused before anything is made.
func TestPoolsThatAreRefused(t *testing.T) {
	long := strings.Repeat("a", 31)
	for name, tc := range map[string]struct {
		environment, set, message string
	}{
		"the pool workers":     {"", "workers.workers.replicas=1", "cluster.workers.workers has a name with workers"},
		"a name of machines":   {"", "workers.control-plane.replicas=1", "has a name with workers or control-plane"},
		"no DNS label":         {"", "workers.GPU.replicas=1", "'GPU'"},
		"a name with a dot":    {"", `workers.a\.b.replicas=1`, "'a.b'"},
		"a long name":          {"", "workers." + long + ".replicas=1", "is too long for cluster kubeadm-capd"},
		"a longer name":        {"", "workers." + long + "a.replicas=1", "maxLength"},
		"fewer than none":      {"", "workers.gpu.replicas=-1", "minimum"},
		"an unknown key":       {"", "workers.gpu.zone=a", "additional properties 'zone' not allowed"},
		"no label":             {"", "workers.gpu.labels.a=b c", "does not match pattern"},
		"a label of kubelet":   {"", `workers.gpu.labels.kubernetes\.io/os=x`, "neither Cluster API nor kubelet may set it"},
		"a label of k8s.io":    {"", `worker.labels.a\.k8s\.io/x=y`, "cluster.worker.labels has a.k8s.io/x"},
		"an unknown effect":    {"", "workers.gpu.taints[0].key=a,cluster.workers.gpu.taints[0].effect=No", "value must be one of"},
		"a taint without key":  {"", "workers.gpu.taints[0].effect=NoExecute", "missing property 'key'"},
		"a flavor of AWS":      {"kubeadm-capa", "workers.gpu.flavor=large", "is no instance type of AWS"},
		"a flavor of docker":   {"", "workers.gpu.flavor=large", "machines of capd have no flavors"},
		"the same for workers": {"rke2-capd", "worker.flavor=large", "cluster.worker.flavor is large, but machines of capd"},
		"a taint twice": {"", "worker.taints[0].key=a,cluster.worker.taints[0].effect=NoExecute," +
			"cluster.worker.taints[1].key=a,cluster.worker.taints[1].effect=NoExecute", "has a:NoExecute twice"},
		"a component of that name": {"", "workers.gpu.replicas=1,components.workers-gpu.enabled=true," +
			"components.workers-gpu.path=./x", "there is a component of that name"},
		"no machine for pods": {"", "control_plane.schedulable=false,cluster.workers.gpu.replicas=0",
			"no machine would be left for ordinary pods"},
		"only machines with taints": {"", "control_plane.schedulable=false,cluster.workers.gpu.replicas=1," +
			"cluster.workers.gpu.taints[0].key=a,cluster.workers.gpu.taints[0].effect=NoSchedule",
			"no machine would be left for ordinary pods"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: cmp.Or(tc.environment, "kubeadm-capd"),
				Content: clusterinit.Content(), Variables: variables(allVariables()),
				Sets: []string{"cluster." + tc.set}})
			if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v, want %q", err, tc.message)
			}
		})
	}
}

// Labels of the domains that kubelet or Cluster API may set, and a pool that alone takes ordinary pods.
func TestPoolsThatAreTaken(t *testing.T) {
	for _, set := range []string{
		`workers.gpu.labels.node\.kubernetes\.io/x=y`, `workers.gpu.labels.a\.kubelet\.kubernetes\.io/x=y`,
		`workers.gpu.labels.topology\.kubernetes\.io/zone=a`, `workers.gpu.labels.a\.node-restriction\.kubernetes\.io/x=y`,
		`workers.gpu.labels.node\.cluster\.x-k8s\.io/x=y`, `workers.gpu.labels.example\.org/x=y`,
		"control_plane.schedulable=false,cluster.workers.gpu.replicas=1",
		"control_plane.schedulable=false,cluster.workers.gpu.replicas=null",
		"control_plane.schedulable=false,cluster.worker.replicas=null",
	} {
		load(t, environment.Options{Sets: []string{"cluster." + set}})
	}
}
