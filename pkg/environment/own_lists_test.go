package environment_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ownLists replaces or extends the lists of machines, as users write patches.
const ownLists = `
components:
  cluster:
    spec:
      patches:
        - target: {kind: KubeadmControlPlane}
          patch: |
            apiVersion: controlplane.cluster.x-k8s.io/v1beta2
            kind: KubeadmControlPlane
            metadata: {name: any}
            spec: {kubeadmConfigSpec: {preKubeadmCommands: [own], files: [{path: /own, content: own}]}}
        - target: {kind: KubeadmConfigTemplate}
          patch: |
            - {op: add, path: /spec/template/spec/preKubeadmCommands, value: [own]}
            - {op: add, path: /spec/template/spec/files, value: [{path: /own, content: own}]}
        - target: {kind: RKE2ControlPlane}
          patch: |
            - {op: replace, path: /spec/preRKE2Commands, value: [own]}
            - {op: replace, path: /spec/files, value: [{path: /own, content: own}]}
        - target: {kind: RKE2ConfigTemplate}
          patch: |
            - {op: add, path: /spec/template/spec/preRKE2Commands/-, value: own}
            - {op: add, path: /spec/template/spec/files/-, value: {path: /own, content: own}}
`

// A user's own commands and files are there with those of the chart, which come before the commands: the node has its
// name, and containerd its proxy.
func TestAUsersListsAndTheChartsAreBothThere(t *testing.T) {
	restart := []string{"systemctl daemon-reload", "systemctl restart containerd"}
	envsubst := []string{"(umask 077 && envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp)",
		"mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml"}
	openstack := slices.Concat([]string{"export COREOS_OPENSTACK_HOSTNAME=${COREOS_OPENSTACK_HOSTNAME%%.*}",
		"export COREOS_OPENSTACK_INSTANCE_UUID"}, envsubst)
	const proxy, ignition = "proxies.http_proxy=http://proxy:3128", "cluster.bootstrap_format=ignition"
	for name, test := range map[string]struct {
		environment    string
		sets, commands []string
		file           string // of the chart
	}{
		"capd behind a proxy": {"kubeadm-capd", []string{proxy}, restart,
			"/etc/systemd/system/containerd.service.d/http-proxy.conf"},
		"capd": {"kubeadm-capd", nil, nil, ""},
		"capo behind a proxy": {"kubeadm-capo", []string{proxy}, restart,
			"/etc/systemd/system/kubelet.service.d/http-proxy.conf"},
		"capo with Ignition": {"kubeadm-capo", []string{ignition}, openstack,
			"/etc/flatcar/update.conf"},
		"capo with Ignition, behind a proxy": {"kubeadm-capo", []string{ignition, proxy},
			slices.Concat(restart, openstack), "/etc/flatcar/update.conf"},
		"capa": {"kubeadm-capa", nil, envsubst, "/etc/flatcar/update.conf"},
		"capa behind a proxy": {"kubeadm-capa", []string{proxy}, slices.Concat(restart, envsubst),
			"/etc/flatcar/update.conf"},
		"rke2 on docker, which knows a machine": {"rke2-capd", nil,
			[]string{"mkdir -p /run/cluster-api && echo started > /run/cluster-api/capd.bootstrap.started"}, ""},
		"rke2 on openstack behind a proxy": {"rke2-capo", []string{proxy}, nil, "/root/.curlrc"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "own.yaml")
			if err := os.WriteFile(file, []byte(ownLists), 0o600); err != nil {
				t.Fatal(err)
			}
			env := load(t, environment.Options{Name: test.environment, Variables: variables(allVariables()),
				Sets: append(test.sets, "cluster.worker.replicas=1"), ValuesFiles: []string{file}})
			seen := 0
			for _, object := range applied(t, env, "cluster") {
				spec, commandsField := machineSpec(object)
				if spec == nil {
					continue
				}
				seen++
				commands, _, _ := unstructured.NestedStringSlice(spec, commandsField)
				if want := append(slices.Clone(test.commands), "own"); !slices.Equal(commands, want) {
					t.Errorf("%s: commands %q, want %q", object.GetKind(), commands, want)
				}
				paths := filesOf(spec)
				if !slices.Contains(paths, "/own") || test.file != "" && !slices.Contains(paths, test.file) {
					t.Errorf("%s: files %q", object.GetKind(), paths)
				}
			}
			if seen != 2 {
				t.Errorf("%d kinds of machines, want 2", seen)
			}
		})
	}
}

// machineSpec is where an object says what machines need, and the name of its list of commands; nil for any other
// object.
func machineSpec(object *unstructured.Unstructured) (spec map[string]any, commands string) {
	fields := map[string][]string{"KubeadmControlPlane": {"spec", "kubeadmConfigSpec"},
		"KubeadmConfigTemplate": {"spec", "template", "spec"},
		"RKE2ControlPlane":      {"spec"}, "RKE2ConfigTemplate": {"spec", "template", "spec"}}[object.GetKind()]
	if fields == nil {
		return nil, ""
	}
	spec, _, _ = unstructured.NestedMap(object.Object, fields...)
	if strings.HasPrefix(object.GetKind(), "RKE2") {
		return spec, "preRKE2Commands"
	}
	return spec, "preKubeadmCommands"
}

func filesOf(spec map[string]any) (paths []string) {
	files, _, _ := unstructured.NestedSlice(spec, "files")
	for _, file := range files {
		path, _, _ := unstructured.NestedString(file.(map[string]any), "path")
		paths = append(paths, path)
	}
	return paths
}

// TestDefinitionsAndNamespacesAreNeverPruned holds the last patches of every component, whatever a user patches: Flux
// would delete a definition with all Clusters when a commit lacks it.
func TestDefinitionsAndNamespacesAreNeverPruned(t *testing.T) {
	for _, name := range environment.List(clusterinit.Content()) {
		env := load(t, environment.Options{Name: name, Variables: variables(allVariables()),
			Sets: []string{"components.more.enabled=true", "components.more.path=./more",
				"components.more.spec.patches[0].patch=x", "components.more.spec.prune=true"}})
		for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
			rendered, err := env.Render(phase, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, object := range rendered {
				if object.GetKind() != "Kustomization" || object.GetLabels()["cluster-init.io/component"] == "" {
					continue
				}
				seen++
				patches, _, _ := unstructured.NestedSlice(object.Object, "spec", "patches")
				kinds := map[string]bool{}
				for _, patch := range patches[max(0, len(patches)-2):] {
					kind, _, _ := unstructured.NestedString(patch.(map[string]any), "target", "kind")
					text, _, _ := unstructured.NestedString(patch.(map[string]any), "patch")
					kinds[kind] = strings.Contains(text, `"kustomize.toolkit.fluxcd.io/prune": "disabled"`) &&
						strings.Contains(text, `"kustomize.toolkit.fluxcd.io/force": "disabled"`)
				}
				if !kinds["CustomResourceDefinition"] || !kinds["Namespace"] {
					t.Errorf("%s, %s: component %s has the last patches %v", name, phase, object.GetName(), kinds)
				}
			}
			if seen == 0 {
				t.Errorf("%s, %s: no components", name, phase)
			}
		}
	}
}

// With spec.force Flux deletes and recreates whatever it cannot change: a CRD would take all its objects along.
func TestAComponentIsNeverForced(t *testing.T) {
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"components.capi.spec.force=true"}})
	if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), "components.capi.spec.force") ||
		!strings.Contains(fault.HintOf(err), "annotate") {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
	load(t, environment.Options{Sets: []string{"components.capi.spec.force=false"}})
}
