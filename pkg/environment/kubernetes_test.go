package environment_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// kubernetes are all settings of the control plane and of kubelet.
const kubernetes = `
cluster:
  worker: {replicas: 1}
  kubernetes:
    api_server: {extra_args: {audit-log-maxage: 7, profiling: false, event-ttl: "$x 100%"}}
    controller_manager: {extra_args: {terminated-pod-gc-threshold: 1000000}}
    scheduler: {extra_args: {v: "2"}}
    kubelet: {extra_args: {max-pods: 50}}
    cert_sans: [api.example.org, 192.0.2.7]
    audit_policy: {rules: [{level: Metadata, resources: [{group: "", resources: [secrets]}]}]}
    encryption_at_rest: {keys: [{name: one, secret: ` + encryptionKey + `}]}
    oidc: {issuer_url: https://id.example.org, client_id: kubernetes, groups_claim: groups}
    admission: {plugins: [AlwaysPullImages], pod_security: {enforce: baseline, exempt_namespaces: [legacy]}}
`

// withKubernetes returns the options of a built-in environment with those settings.
func withKubernetes(t *testing.T, name string, sets ...string) environment.Options {
	t.Helper()
	at := folder(t, map[string]string{"kubernetes.yaml": kubernetes})
	sets = append([]string{"cluster.kubernetes.oidc.ca=" + caCert, "secret_fingerprint_key=key"}, sets...)
	if strings.HasPrefix(name, "rke2") { // it has its own
		sets = append(sets, "cluster.kubernetes.encryption_at_rest.keys=null")
	}
	return environment.Options{Name: name, Variables: variables(allVariables()), Sets: sets,
		ValuesFiles: []string{filepath.Join(at, "kubernetes.yaml")}}
}

// argumentsAt returns a list of arguments, of kubeadm or of RKE2, in the form NAME=VALUE.
func argumentsAt(spec map[string]any, path ...string) []string {
	list, _, _ := unstructured.NestedSlice(spec, path...)
	var all []string
	for _, item := range list {
		if argument, is := item.(map[string]any); is {
			item = fmt.Sprintf("%s=%s", argument["name"], argument["value"])
		}
		all = append(all, strings.TrimLeft(item.(string), "-"))
	}
	return all
}

// The control plane and kubelet get the settings after what the definition gives them.
func TestKubernetesSettings(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "rke2-capd", "kubeadm-capo", "rke2-capo", "kubeadm-capa"} {
		t.Run(name, func(t *testing.T) {
			plain := load(t, environment.Options{Name: name, Variables: variables(allVariables()),
				Sets: []string{"cluster.worker.replicas=1"}})
			before := configurations(t, plain)
			env := load(t, withKubernetes(t, name))
			for kind, spec := range configurations(t, env) {
				for path, want := range wantedLists(kind) {
					keys := strings.Split(path, "/")
					had, has := argumentsAt(before[kind], keys...), argumentsAt(spec, keys...)
					if want = append(had, want...); !slices.Equal(has, want) {
						t.Errorf("%s has %s %q, want %q", kind, path, has, want)
					}
				}
				if strings.HasSuffix(kind, "ControlPlane") {
					hasFilesOfAPIServer(t, kind, spec)
				} else if files := contentOfFiles(spec); len(files) != len(contentOfFiles(before[kind])) {
					t.Errorf("%s has the files %v", kind, files)
				}
			}
			was, is := workersOf(t, plain), workersOf(t, env)
			if was.template == is.template || was.controlPlane != is.controlPlane {
				t.Errorf("the templates are %+v, before %+v", is, was)
			}
		})
	}
}

// configurations returns the configurations of machines by kind.
func configurations(t *testing.T, env *environment.Environment) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, o := range applied(t, env, "cluster") {
		if spec := configuration(o); spec != nil {
			all[o.GetKind()] = spec
		}
	}
	if len(all) != 2 {
		t.Fatalf("configurations of %d kinds", len(all))
	}
	return all
}

// wantedLists are the settings of kubernetes, as a kind has them.
func wantedLists(kind string) map[string][]string {
	api := func(folder string, audit ...string) []string {
		return slices.Sorted(slices.Values(append(audit, "enable-admission-plugins=NodeRestriction,AlwaysPullImages",
			"event-ttl=$x 100%", "oidc-ca-file="+folder+"/oidc-ca.pem", "oidc-client-id=kubernetes",
			"oidc-groups-claim=groups", "oidc-issuer-url=https://id.example.org", "profiling=false")))
	}
	kubelet, scheduler := []string{"max-pods=50"}, []string{"v=2"}
	controllers := []string{"terminated-pod-gc-threshold=1000000"}
	names := []string{"api.example.org", "192.0.2.7"}
	const kubeadm, rke2 = "/etc/kubernetes/cluster-init", "/etc/rancher/rke2/cluster-init"
	return map[string]map[string][]string{
		"KubeadmControlPlane": {
			"clusterConfiguration/apiServer/extraArgs": api(kubeadm, "audit-log-maxage=7", "audit-log-maxbackup=10",
				"audit-log-maxsize=100", "audit-log-path=/var/log/kubernetes/audit/audit.log",
				"audit-policy-file="+kubeadm+"/audit-policy.json", "encryption-provider-config="+kubeadm+"/encryption.json",
				"admission-control-config-file="+kubeadm+"/admission.json"),
			"clusterConfiguration/apiServer/certSANs":             names,
			"clusterConfiguration/controllerManager/extraArgs":    controllers,
			"clusterConfiguration/scheduler/extraArgs":            scheduler,
			"initConfiguration/nodeRegistration/kubeletExtraArgs": kubelet,
			"joinConfiguration/nodeRegistration/kubeletExtraArgs": kubelet,
		},
		"KubeadmConfigTemplate": {"joinConfiguration/nodeRegistration/kubeletExtraArgs": kubelet},
		"RKE2ControlPlane": {
			"serverConfig/kubeAPIServer/extraArgs":         api(rke2, "audit-log-maxage=7"),
			"serverConfig/tlsSan":                          names,
			"serverConfig/kubeControllerManager/extraArgs": controllers,
			"serverConfig/kubeScheduler/extraArgs":         scheduler,
			"agentConfig/kubelet/extraArgs":                kubelet,
		},
		"RKE2ConfigTemplate": {"agentConfig/kubelet/extraArgs": kubelet},
	}[kind]
}

// hasFilesOfAPIServer sees the files that the API server reads, and that its pod has them.
func hasFilesOfAPIServer(t *testing.T, kind string, spec map[string]any) {
	t.Helper()
	folder, rke2 := "/etc/kubernetes/cluster-init/", kind == "RKE2ControlPlane"
	if rke2 {
		folder = "/etc/rancher/rke2/cluster-init/"
	}
	files := contentOfFiles(spec)
	for name, want := range map[string]string{
		"audit-policy.json": `"omitStages":["RequestReceived"],"rules":[{"level":"Metadata",` +
			`"resources":[{"group":"","resources":["secrets"]}]}]`,
		"admission.json": `"legacy"]}`,
		"oidc-ca.pem":    "BEGIN CERTIFICATE",
	} {
		if !strings.Contains(files[folder+name], want) {
			t.Errorf("%s has %s as %q, want %q", kind, name, files[folder+name], want)
		}
	}
	if rke2 {
		mounts, _, _ := unstructured.NestedStringMap(spec, "serverConfig", "kubeAPIServer", "extraMounts")
		admission, _, _ := unstructured.NestedString(spec, "agentConfig", "podSecurityAdmissionConfigFile")
		audit := files["/etc/rancher/rke2/config.yaml.d/50-audit.yaml"]
		if mounts[strings.TrimSuffix(folder, "/")] != strings.TrimSuffix(folder, "/")+":ro" ||
			admission != folder+"admission.json" || audit != "audit-policy-file: "+folder+"audit-policy.json\n" {
			t.Errorf("RKE2 has the mounts %v, %q for admission and %q for audit", mounts, admission, audit)
		}
	} else {
		volumes, _, _ := unstructured.NestedSlice(spec, "clusterConfiguration", "apiServer", "extraVolumes")
		text, _ := json.Marshal(volumes)
		for _, path := range []string{`"/var/log/kubernetes/audit"`, `"/etc/kubernetes/cluster-init"`} {
			if !strings.Contains(string(text), `"hostPath":`+path) {
				t.Errorf("the API server has the volumes %s", text)
			}
		}
		secret := files[folder+"encryption.json"]
		if !strings.HasPrefix(secret, "telco-cloud-init-machine-encryption-") || strings.HasSuffix(secret, "unknown") {
			t.Errorf("%s has its keys from the Secret %q", kind, secret)
		}
	}
}

// Settings of the control plane replace its machines and no others.
func TestWhatReplacesTheControlPlane(t *testing.T) {
	templates := func(sets ...string) environment.Templates {
		all, err := load(t, environment.Options{Sets: sets}).Templates()
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Templates
	}
	plain := templates()
	for set, workers := range map[string]bool{
		"cluster.kubernetes.api_server.extra_args.event-ttl=2h": false, "cluster.kubernetes.cert_sans={a}": false,
		"cluster.kubernetes.kubelet.extra_args.max-pods=50": true,
	} {
		if with := templates(set); with.ControlPlane == plain.ControlPlane ||
			(with.Workers != plain.Workers) != workers {
			t.Errorf("%s makes %v of %v", set, with, plain)
		}
	}
}

// A key with the value null sets nothing.
func TestKubernetesSettingsOfNull(t *testing.T) {
	for _, set := range []string{"", ".oidc", ".admission", ".audit_policy", ".encryption_at_rest", ".api_server",
		".kubelet.extra_args", ".encryption_at_rest.keys", ".admission.pod_security", ".cert_sans"} {
		load(t, environment.Options{Sets: []string{"cluster.kubernetes" + set + "=null"}})
	}
}

// Settings that a control plane could not have are refused before anything is created.
func TestKubernetesSettingsThatAreRefused(t *testing.T) {
	const key = "encryption_at_rest.keys[%d].name=%s,cluster.kubernetes.encryption_at_rest.keys[%[1]d].secret=%[3]s"
	one, two := fmt.Sprintf(key, 0, "a", encryptionKey), fmt.Sprintf(key, 1, "a", encryptionKey)
	const taken = "which cluster-init or the bootstrap provider sets"
	const and = ",cluster.kubernetes."
	refuses(t, "cluster.kubernetes.", map[string]refusedValue{
		"an argument of kubeadm": {"", "api_server.extra_args.etcd-servers=a",
			"api_server.extra_args has etcd-servers, " + taken},
		"an argument of Docker's kubelet": {"", "kubelet.extra_args.cgroup-root=/", taken},
		"an argument of OpenStack":        {"kubeadm-capo", "kubelet.extra_args.provider-id=a", taken},
		"an argument of the cloud":        {"", "controller_manager.extra_args.cloud-provider=a", taken},
		"labels as an argument":           {"", "kubelet.extra_args.node-labels=a=b", taken},
		"an argument that is a setting": {"", "api_server.extra_args.oidc-issuer-url=a",
			"which cluster.kubernetes.oidc stands for"},
		"the audit log as an argument": {"", "api_server.extra_args.audit-log-path=/a",
			"which cluster.kubernetes.audit_policy stands for"},
		"an argument with dashes": {"", "api_server.extra_args.--v=2",
			"at '/cluster/kubernetes/api_server/extra_args': invalid propertyName '--v'"},
		"a value with a line break":       {"", "scheduler.extra_args.v=2\n3", "does not match pattern"},
		"a value of cloud-init":           {"", "kubelet.extra_args.v={{ a }}", "got array, want"},
		"a component that does not exist": {"", "proxy.extra_args.v=2", "additional properties 'proxy' not allowed"},
		"a name with a path":              {"", "cert_sans={https://a}", "does not match pattern"},
		"an unknown level":                {"", "audit_policy.rules[0].level=All", "value must be one of"},
		"a rule with an unknown field": {"", "audit_policy.rules[0].level=None" + and + "audit_policy.rules[0].user=a",
			"additional properties 'user'"},
		"a long policy": {"", "audit_policy.rules[0].level=None" + and + "audit_policy.rules[0].users={" +
			strings.Repeat("a", 8000) + "}", "audit-policy.json, which is too large"},
		"a short key":   {"", fmt.Sprintf(key, 0, "a", "AAEC"), "keys/0/secret': invalid value"},
		"a key twice":   {"", one + and + two, "keys has a twice"},
		"a key of RKE2": {"rke2-capd", one, "but RKE2 encrypts Secrets with a key of its own"},
		"a file that the API server does not see": {"", "api_server.extra_args.audit-webhook-config-file=/a",
			"audit-webhook-config-file with a file, which the component's pod does not see"},
		"another login": {"", "api_server.extra_args.authentication-config=/a",
			"which cluster.kubernetes.oidc stands for"},
		"another issuer of tokens": {"", "api_server.extra_args.service-account-issuer=https://a", taken},
		"one address for all":      {"", "kubelet.extra_args.node-ip=10.0.0.1", taken},
		"a rule for two sorts": {"", "audit_policy.rules[0].level=None" + and + "audit_policy.rules[0].namespaces={a}" +
			and + "audit_policy.rules[0].nonResourceURLs={/a}", "rules[0] has nonResourceURLs next to"},
		"exempt from nothing": {"", "admission.pod_security.exempt_namespaces={a}",
			"exempt_namespaces, but no level"},
		"a name without a part":    {"", "cert_sans={a..b}", "does not match pattern"},
		"an issuer without TLS":    {"", "oidc.issuer_url=http://a" + and + "oidc.client_id=a", "does not match pattern"},
		"an issuer without client": {"", "oidc.issuer_url=https://a", "issuer_url is given without client_id"},
		"a client without issuer":  {"", "oidc.client_id=a", "oidc is given without issuer_url"},
		"NodeRestriction off":      {"", "admission.disabled_plugins={NodeRestriction}", "which is needed"},
		"a plugin on and off": {"", "admission.plugins={A}" + and + "admission.disabled_plugins={A}",
			"which is needed"},
		"an unknown definition": {"", "cert_sans={a},components.cluster.path=./mine",
			"it is not known which lists the definition"},
	})
}
