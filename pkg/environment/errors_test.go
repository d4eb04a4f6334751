package environment_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// folder writes a user's own environment and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// onBase is the kustomization of an environment with its own values over the base of the content.
const onBase = `resources: [../base]
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
  - name: management-cluster-values
    namespace: flux-system
    behavior: replace
    files: [values.yaml]
`

func TestBadInput(t *testing.T) {
	mine := func(values string) func(*testing.T) environment.Options {
		return func(t *testing.T) environment.Options {
			return environment.Options{Name: folder(
				t, map[string]string{"kustomization.yaml": onBase, "values.yaml": values})}
		}
	}
	sets := func(sets ...string) func(*testing.T) environment.Options {
		return func(*testing.T) environment.Options {
			return environment.Options{Name: "kubeadm-capd", Sets: sets}
		}
	}
	rke2 := func(sets ...string) func(*testing.T) environment.Options {
		return func(*testing.T) environment.Options {
			return environment.Options{Name: "rke2-capd", Sets: sets}
		}
	}
	named := func(name string) func(*testing.T) environment.Options {
		return func(*testing.T) environment.Options { return environment.Options{Name: name} }
	}
	cases := map[string]struct {
		options func(*testing.T) environment.Options
		code    fault.Code
		message string // in the error
		hint    string // in the hint
	}{
		"unknown environment": {named("nowhere"), fault.EnvironmentUnknown, `"nowhere"`, "kubeadm-capd"},
		"misspelt environment": {named("kubeadm-cadp"), fault.EnvironmentUnknown, `"kubeadm-cadp"`,
			"Did you mean this: kubeadm-capd\nenvironments: "},
		"no environment":         {named(""), fault.EnvironmentUnknown, `""`, "kubeadm-capd"},
		"base is none":           {named("base"), fault.EnvironmentUnknown, `"base"`, "kubeadm-capd"},
		"path that is not there": {named("./nowhere"), fault.EnvironmentUnknown, "./nowhere", "kubeadm-capd"},
		"malformed YAML": {mine("cluster:\n\tname: x\n"), fault.EnvironmentInvalid,
			"mine/values.yaml: not YAML: yaml: line 2", "values.yaml"},
		"key twice": {mine("cni: none\ncni: calico\n"), fault.EnvironmentInvalid,
			"line 2: mapping key \"cni\" already defined at line 1", "values.yaml"},
		"values that are no map": {mine("- a\n"), fault.EnvironmentInvalid,
			"mine/values.yaml: line 1: it is not a YAML map of values", "mine/values.yaml"},
		"two documents": {mine("cni: none\n---\ncni: calico\n"), fault.EnvironmentInvalid,
			"mine/values.yaml: line 2: a second document begins", "Join the documents"},
		"a no-break space in a key": {mine("cluster:\n\u00a0\u00a0name: x\n"), fault.EnvironmentInvalid,
			"mine/values.yaml: line 2 has a no-break space (U+00A0)", "plain space"},
		"a no-break space for a key": {mine("cni:\u00a0calico\n"), fault.EnvironmentInvalid,
			"mine/values.yaml: line 1 has a no-break space (U+00A0)", "plain space"},
		"one that ends a map": {mine("cni: none\ncluster:\u00a0{}\n"), fault.EnvironmentInvalid,
			"mine/values.yaml: not YAML: line 2 has a no-break space (U+00A0)", "plain space"},
		"one after a value": {mine("cni: calico\u00a0\n"), fault.EnvironmentInvalid,
			"mine/values.yaml: line 1 has a no-break space (U+00A0)", "plain space"},
		"missing variable": {mine("cluster: {name: \"${CLUSTER_INIT_VAR_NAME}\"}\n"), fault.VariableMissing,
			"mine/values.yaml: line 1: variable CLUSTER_INIT_VAR_NAME is not set", "export CLUSTER_INIT_VAR_NAME="},
		"forbidden variable": {mine("cluster: {name: \"${HOME}\"}\n"), fault.EnvironmentInvalid,
			"variable HOME is not one that an environment may use", "CLUSTER_INIT_VAR_HOME"},
		"a variable of cluster-init": {mine("cluster: {name: \"${CLUSTER_INIT_SSH_PASSPHRASE}\"}\n"),
			fault.EnvironmentInvalid, "variable CLUSTER_INIT_SSH_PASSPHRASE is not one that an environment may use",
			"CLUSTER_INIT_VAR_SSH_PASSPHRASE"},
		"brace left open": {mine("cni: \"${OS_X\"\n"), fault.EnvironmentInvalid, "no closing brace", ""},
		"wrong type": {sets("cluster.worker.replicas=many"), fault.ValuesInvalid,
			"at '/cluster/worker/replicas': got string, want null or integer", ""},
		"a name that is none in YAML": {sets("cluster.name=y"), fault.ValuesInvalid,
			`--set: cluster.name is "y", which is no text in YAML`, "--set cluster.name=management-y"},
		"even control plane": {sets("cluster.control_plane.replicas=4"), fault.ValuesInvalid,
			"--set: cluster.control_plane.replicas is 4, an even number of control planes: etcd's quorum is 3 of 4, " +
				"so they tolerate no more failed machines than 3 would", "odd number"},
		"not one of": {sets("cni=flannel"), fault.ValuesInvalid,
			"value must be one of 'calico', 'custom', 'none'", ""},
		"unknown key": {sets("cluster.worker.replica=1"), fault.ValuesInvalid,
			"'/cluster/worker': additional properties 'replica' not allowed",
			"Did you mean this: cluster.worker.replicas\nallowed there: annotations, flavor, labels, replicas, taints"},
		"unknown key of a component": {sets("components.capi.enable=true"), fault.ValuesInvalid,
			"additional properties 'enable' not allowed", "Did you mean this: components.capi.enabled\n"},
		"bad --set": {sets("cluster"), fault.ValuesInvalid, "--set cluster", "key.key=value"},
		"no room for pods": {sets("cluster.control_plane.schedulable=false"), fault.ValuesInvalid,
			"cluster.worker.replicas is 0", ""},
		"unknown format": {sets("cluster.bootstrap_format=butane"), fault.ValuesInvalid,
			"value must be one of 'cloud-config', 'ignition'", ""},
		"Ignition for RKE2": {rke2("cluster.bootstrap_format=ignition"), fault.ValuesInvalid,
			"ignition, which rke2-capd cannot do", "kubeadm-capa, kubeadm-capd"},
		"RKE2 of a plain version": {rke2("cluster.kubernetes_version=v1.36.4"), fault.ValuesInvalid,
			"RKE2 wants one of its own releases", "v1.36.4+rke2r1"},
		"kubeadm of an RKE2 version": {sets("cluster.kubernetes_version=v1.36.4+rke2r1"), fault.ValuesInvalid,
			"a release of RKE2", "+rke2rN"},
		"checksum that is none": {rke2("cluster.rke2.air_gapped=true", "cluster.rke2.air_gapped_checksum=x"),
			fault.ValuesInvalid, "/cluster/rke2/air_gapped_checksum", ""},
		"checksum of nothing": {rke2("cluster.rke2.air_gapped_checksum=" + strings.Repeat("a", 64)),
			fault.ValuesInvalid, "air_gapped is false", "both"},
		"RKE2's mirror unverified": {rke2("cluster.registry_mirrors[0].host=a",
			"cluster.registry_mirrors[0].url=https://b", "cluster.registry_mirrors[0].skip_verify=true"),
			fault.ValuesInvalid, "skip_verify", "certificate"},
		"RKE2 without its provider": {rke2("components.cabpr.enabled=false"), fault.ComponentUnknown,
			`depends on "cabpr", which is not enabled`, ""},
		"unknown component": {sets("components.kapi.enabled=true"), fault.ComponentUnknown, `"kapi"`,
			"Did you mean this: components.capi\n"},
		"unknown dependency": {sets("components.capi.dependsOn={cert-manger}"), fault.ComponentUnknown,
			`"capi" depends on "cert-manger"`, ""},
		"disabled dependency": {sets("components.capi.enabled=false", "components.cluster.enabled=false"),
			fault.ComponentUnknown, `"cni" depends on "capi", which is not enabled in phase bootstrap`, "Enable both"},
		"dependency in one phase": {sets("components.cert-manager.enabled=bootstrap-only"), fault.ComponentUnknown,
			`depends on "cert-manager", which is not enabled in phase management`, ""},
		"provider not enabled": {sets("components.capd.enabled=false"), fault.ComponentUnknown,
			`depends on "capd", which is not enabled`, ""},
		"cycle": {sets("components.cert-manager.dependsOn={capd}"), fault.ComponentCycle,
			"cert-manager -> capd -> cert-manager", "dependsOn"},
		"even as a file has it": {mine("cluster: {control_plane: {replicas: 2}}\ncomponents: {capd: {enabled: " +
			"true}, cluster: {enabled: true}}\n"), fault.ValuesInvalid,
			"/mine/values.yaml: cluster.control_plane.replicas is 2, an even number of control planes", ""},
		"no control plane": {sets("cluster.control_plane.replicas=0"), fault.ValuesInvalid,
			"--set: at '/cluster/control_plane/replicas': minimum: got 0, want 1", ""},
		"no cluster": {sets("components.cluster.enabled=false"), fault.ComponentUnknown,
			`--set: component "cluster" is not enabled, and without it there is no management cluster`,
			"--set components.cluster.enabled=true"},
		"no cluster by default": {mine("components: {capd: {enabled: true}}\n"), fault.ComponentUnknown,
			`/mine, by default of the chart: component "cluster" is not enabled`,
			"--set components.cluster.enabled=true"},
		"no cluster later": {sets("components.cluster.enabled=bootstrap-only"), fault.ComponentUnknown,
			`component "cluster" is not enabled in phase management`, ""},
		"no cluster first": {sets("components.cluster.enabled=management-only"), fault.ComponentUnknown,
			`component "cluster" is not enabled in phase bootstrap`, ""},
		"nothing waits for it": {sets("components.cluster.dependsOn={}", "components.cni.dependsOn={}",
			"components.capd.enabled=false"), fault.ComponentUnknown, `--set: component "capd" is not enabled`,
			"components.capd.enabled=true"},
		"no Cluster API": {sets("components.cluster.dependsOn={}", "components.cni.dependsOn={}",
			"components.capi.enabled=false"), fault.ComponentUnknown, `component "capi" is not enabled`, ""},
		"no bootstrap provider": {sets("components.cluster.dependsOn={}", "components.cni.dependsOn={}",
			"components.cabpk.enabled=false"), fault.ComponentUnknown, `component "cabpk" is not enabled`, ""},
		"networks overlap": {sets("cluster.service_cidr=10.244.128.0/20"), fault.ValuesInvalid,
			"--set: cluster.pod_cidr 10.244.0.0/16 overlaps cluster.service_cidr 10.244.128.0/20",
			"cluster.service_cidr="},
		"IPv6 networks overlap": {sets("cluster.service_cidr=fd00::/108", "cluster.pod_cidr=fd00::/64"),
			fault.ValuesInvalid, "cluster.pod_cidr fd00::/64 overlaps cluster.service_cidr fd00::/108", ""},
		"network for no node": {sets("cluster.pod_cidr=10.244.0.0/26"), fault.ValuesInvalid,
			"--set: cluster.pod_cidr 10.244.0.0/26 must be from /8 to /24: each node gets a /24 of it",
			"10.244.0.0/16"},
		"network for too many nodes": {sets("cluster.pod_cidr=fd00::/40", "cluster.service_cidr=fd01::/112"),
			fault.ValuesInvalid, "--set: cluster.pod_cidr fd00::/40 must be from /48 to /64", "fd00:10:244::/56"},
		"network with host bits": {sets("cluster.pod_cidr=10.244.7.0/16"), fault.ValuesInvalid,
			"--set: cluster.pod_cidr 10.244.7.0/16 has host bits set", "10.244.0.0/16"},
		"networks of two families": {sets("cluster.pod_cidr=fd00::/48"), fault.ValuesInvalid,
			"--set: cluster.pod_cidr fd00::/48 and cluster.service_cidr 10.96.0.0/16 are not both", "one family"},
		"services without addresses": {sets("cluster.service_cidr=10.96.0.0/30"), fault.ValuesInvalid,
			"--set: cluster.service_cidr 10.96.0.0/30 must have 16 to 1048576 addresses", ""},
		"services of a whole class": {sets("cluster.service_cidr=11.0.0.0/8"), fault.ValuesInvalid,
			"cluster.service_cidr 11.0.0.0/8 must have 16 to", ""},
		"credentials in a mirror": {sets(
			"cluster.registry_mirrors[0].host=ghcr.io,cluster.registry_mirrors[0].url=https://me:pw@m"),
			fault.ValuesInvalid, "--set: cluster.registry_mirrors.0.url contains credentials", ""},
		"too many control planes": {sets("cluster.control_plane.replicas=11"), fault.ValuesInvalid,
			"maximum: got 11, want 9", ""},
		"version of no Kubernetes": {sets("cluster.kubernetes_version=v1.36.4+; rm"), fault.ValuesInvalid,
			"at '/cluster/kubernetes_version'", ""},
		"image of no name": {sets("cluster.image=my image"), fault.ValuesInvalid, "at '/cluster/image'", ""},
		"two mirrors of one host": {sets(
			"cluster.registry_mirrors[0].host=ghcr.io,cluster.registry_mirrors[0].url=http://a,cluster.registry_mirrors[1].host=ghcr.io,cluster.registry_mirrors[1].url=http://b"), fault.ValuesInvalid, "--set: cluster.registry_mirrors.1.host: another mirror of ghcr.io exists", ""},
		"network that is none": {sets("cluster.pod_cidr=10.300.0.0/16"), fault.ValuesInvalid,
			"--set: cluster.pod_cidr 10.300.0.0/16 is not a range of addresses", "10.244.0.0/16"},
		"port of a mirror": {sets("cluster.registry_mirrors[0].host=docker.io",
			"cluster.registry_mirrors[0].url=http://m:70000/v2"), fault.ValuesInvalid,
			"cluster.registry_mirrors.0.url: there is no port 70000", "65535"},
		"a secret is not quoted": {sets("proxies.http_proxy=me:s3cret@proxy"), fault.ValuesInvalid,
			"--set: proxies.http_proxy: want http://HOST:PORT", ""},
		"cycle of one": {sets("components.capi.dependsOn={capi}"), fault.ComponentCycle, "capi -> capi",
			""},
		"unknown repo": {sets("components.x.enabled=true", "components.x.repo=y"), fault.ValuesInvalid,
			`components.x.repo is "y"`, ""},
		"base that is not there": {func(t *testing.T) environment.Options {
			return environment.Options{Name: folder(
				t, map[string]string{"kustomization.yaml": "resources: [../bases]\n"})}
		}, fault.EnvironmentInvalid, "bases", "../base"},
		"other objects": {func(t *testing.T) environment.Options {
			return environment.Options{Name: folder(t, map[string]string{
				"kustomization.yaml": "resources: [../kubeadm-capd, pod.yaml]\n",
				"pod.yaml":           "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
			})}
		}, fault.EnvironmentInvalid, "Pod p", "management-cluster-values"},
		"values file that is not there": {func(*testing.T) environment.Options {
			return environment.Options{Name: "kubeadm-capd", ValuesFiles: []string{"/nowhere.yaml"}}
		}, fault.EnvironmentInvalid, "/nowhere.yaml", "path"},
		"values file that is a folder": {func(t *testing.T) environment.Options {
			return environment.Options{Name: "kubeadm-capd", ValuesFiles: []string{t.TempDir()}}
		}, fault.EnvironmentInvalid, "is a directory", "path"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			options := test.options(t)
			options.Content = clusterinit.Content()
			_, err := environment.Load(t.Context(), options)
			if err == nil {
				t.Fatal("no error")
			}
			if code := fault.CodeOf(err); code != test.code {
				t.Errorf("code %s, want %s", code, test.code)
			}
			if !strings.Contains(err.Error(), test.message) {
				t.Errorf("message %q does not hold %q", err, test.message)
			}
			if !strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("hint %q does not hold %q", fault.HintOf(err), test.hint)
			}
			if strings.Contains(err.Error()+fault.HintOf(err), "s3cret") {
				t.Errorf("the error shows a secret: %v", err)
			}
			if strings.Contains(err.Error()+fault.HintOf(err), ".cluster-init-content") {
				t.Errorf("the error shows an inner path: %v", err)
			}
		})
	}
}

func TestLoadStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd",
		Content: clusterinit.Content()}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}
