package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestPatchesAreTheServersOwn(t *testing.T) {
	p := paths{root: t.TempDir()}
	cfg := config{apiServerArgs: []string{"--anonymous-auth=true", "profiling"}, nodePortRange: "30000-31000",
		etcdArgs: []string{"quota-backend-bytes=1"}}
	if err := writePatches(p, cfg, "a-x", "a-x=https://10.0.0.1:2380"); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"kube-apiserver": {"--service-node-port-range=30000-31000", "--anonymous-auth=true",
			"--profiling=true"},
		"etcd": {"--name=a-x", "--initial-cluster=a-x=https://10.0.0.1:2380",
			"--quota-backend-bytes=1"},
		"kube-controller-manager": nil, "kube-scheduler": nil,
	}
	for component, flags := range want {
		content, err := os.ReadFile(filepath.Join(p.patches(), component+"0+json.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var operations []struct{ Op, Path, Value string }
		if err := yaml.Unmarshal(content, &operations); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, operation := range operations {
			if operation.Op != "add" || operation.Path != "/spec/containers/0/command/-" {
				t.Errorf("%s: %+v", component, operation)
			}
			got = append(got, operation.Value)
		}
		if !reflect.DeepEqual(got, flags) {
			t.Errorf("%s: got %q, want %q", component, got, flags)
		}
	}
}

func TestNodeRegistration(t *testing.T) {
	cfg := config{nodeLabels: []string{"a=b", "c=d"}, nodeTaints: []string{"k=v:NoExecute", "only:NoSchedule"},
		kubeletArgs: []string{"--max-pods=50"}}
	got := nodeRegistration(cfg, machine{name: "one", address: "10.6.0.4"})
	arguments := []any{
		argument("runtime-cgroups", "/system.slice/containerd.service"), argument("node-ip", "10.6.0.4"),
		argument("node-labels", "a=b,c=d"),
		argument("register-with-taints", "k=v:NoExecute,only:NoSchedule"), argument("max-pods", "50"),
	}
	if !reflect.DeepEqual(got["kubeletExtraArgs"], arguments) {
		t.Errorf("got %v", got["kubeletExtraArgs"])
	}
	// kubeadm takes no list for "taint servers", and an empty one for "no taints".
	none, isList := nodeRegistration(config{}, machine{})["taints"].([]any)
	if !isList || none == nil || len(none) != 0 {
		t.Errorf("without node-taint: %v", none)
	}
}

func TestInitConfiguration(t *testing.T) {
	p := paths{root: "/"}
	cfg := config{clusterCIDR: "10.244.0.0/16", serviceCIDR: "10.96.0.0/16",
		tlsSan: []string{"localhost", "172.18.0.3"}, disableKubeProxy: true, disable: []string{"rke2-coredns"}}
	documents := initConfiguration(p, cfg, machine{name: "one", address: "172.18.0.4"}, "172.18.0.3:6443", "abc.def")
	cluster := documents[1]
	if cluster["controlPlaneEndpoint"] != "172.18.0.3:6443" {
		t.Errorf("endpoint %v", cluster["controlPlaneEndpoint"])
	}
	apiServer := cluster["apiServer"].(document)
	if want := []string{"127.0.0.1", "172.18.0.3", "172.18.0.4", "localhost", "one"}; !reflect.DeepEqual(
		apiServer["certSANs"], want) {
		t.Errorf("names %v", apiServer["certSANs"])
	}
	if want := []any{argument("client-ca-file", "/etc/kubernetes/pki/client-ca-bundle.crt")}; !reflect.DeepEqual(
		apiServer["extraArgs"], want) {
		t.Errorf("arguments %v", apiServer["extraArgs"])
	}
	want := []string{"mark-control-plane", "show-join-command", "addon/kube-proxy", "addon/coredns"}
	if !reflect.DeepEqual(documents[0]["skipPhases"], want) {
		t.Errorf("skipped %v", documents[0]["skipPhases"])
	}
	if kubelet := documents[2]; kubelet["failCgroupV1"] != false || kubelet["failSwapOn"] != false {
		t.Errorf("kubelet %v", kubelet)
	}
}
