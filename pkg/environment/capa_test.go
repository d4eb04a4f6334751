package environment_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// awsProfile is "[default]\naws_access_key_id = AKIA\naws_secret_access_key = s3cret\n" in base64.
const awsProfile = "W2RlZmF1bHRdCmF3c19hY2Nlc3Nfa2V5X2lkID0gQUtJQQphd3Nfc2VjcmV0X2FjY2Vzc19rZXkgPSBzM2NyZXQK"

// awsVariables is all that kubeadm-capa asks for.
func awsVariables() map[string]string {
	return map[string]string{"AWS_REGION": "eu-central-1", "AWS_S3_BUCKET_NAME": "cluster-api-provider-aws-telco",
		"AWS_B64ENCODED_CREDENTIALS": awsProfile}
}

func capa(t *testing.T, sets ...string) *environment.Environment {
	t.Helper()
	return load(t, environment.Options{Name: "kubeadm-capa", Variables: variables(awsVariables()), Sets: sets})
}

func TestKubeadmCAPADefinition(t *testing.T) {
	cases := map[string][]string{
		"plain": nil,
		"full": {"cluster.worker.replicas=2", "cluster.control_plane.replicas=3",
			"cluster.control_plane.schedulable=false",
			"cluster.image=ami-0123456789abcdef0", "cluster.aws.ssh_key_name=telco", "cluster.aws.root_volume_size=100",
			"cluster.aws.presigned_url_duration=30m",
			"cluster.aws.image_lookup_format=own-{{.BaseOS}}-{{.K8sVersion}}-*",
			"cluster.registry_mirrors[0].host=registry.k8s.io", "cluster.registry_mirrors[0].url=http://mirror:5000",
			"proxies.http_proxy=http://proxy:3128"},
	}
	for name, sets := range cases {
		t.Run(name, func(t *testing.T) {
			objects := applied(t, capa(t, sets...), "cluster")
			golden.Check(t, filepath.Join("cluster", "kubeadm-capa."+name+".yaml"), toYAML(t, objects))
			for _, object := range objects {
				typed := map[string]any{"Cluster": &clusterv1.Cluster{},
					"MachineDeployment":     &clusterv1.MachineDeployment{},
					"KubeadmControlPlane":   &controlplanev1.KubeadmControlPlane{},
					"KubeadmConfigTemplate": &bootstrapv1.KubeadmConfigTemplate{}}[object.GetKind()]
				if typed == nil {
					continue // AWS's are held against their definitions by `make test-capa`
				}
				text, err := yaml.Marshal(object.Object)
				if err != nil {
					t.Fatal(err)
				}
				if err := yaml.UnmarshalStrict(text, typed); err != nil {
					t.Errorf("%s: %v", object.GetKind(), err)
				}
			}
		})
	}
}

// AWS signs a link for seven days at most. The value is not part of a machine, so none is replaced.
func TestPresignedURLDuration(t *testing.T) {
	for value, valid := range map[string]bool{"": true, "30m": true, "9999m": true, "168h": true, "169h": false,
		"10000m": false, "0m": false, "30": false, "1h30m": false, "1s": false} {
		_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capa", Content: clusterinit.Content(),
			Variables: variables(awsVariables()), Sets: []string{"cluster.aws.presigned_url_duration=" + value}})
		if valid != (err == nil) || err != nil && fault.CodeOf(err) != fault.ValuesInvalid {
			t.Errorf("%q: %v", value, err)
		}
	}
	plain, err := capa(t).TemplateHashes()
	if err != nil {
		t.Fatal(err)
	}
	with, err := capa(t, "cluster.aws.presigned_url_duration=30m").TemplateHashes()
	if err != nil || !cmp.Equal(plain, with) {
		t.Errorf("the machines' templates change: %v, %v", cmp.Diff(plain, with), err)
	}
}

// The patch that docs/environments/kubeadm-capa.md shows.
func TestAWSClusterTakesAPatch(t *testing.T) {
	more := filepath.Join(t.TempDir(), "more.yaml")
	text := `
components:
  cluster:
    spec:
      patches:
        - target: {kind: AWSCluster}
          patch: |
            - {op: add, path: /spec/network, value: {vpc: {availabilityZoneUsageLimit: 1}}}
`
	if err := os.WriteFile(more, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := load(t, environment.Options{Name: "kubeadm-capa", Variables: variables(awsVariables()),
		ValuesFiles: []string{more}})
	for _, object := range applied(t, env, "cluster") {
		limit, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "network", "vpc",
			"availabilityZoneUsageLimit")
		if found != (object.GetKind() == "AWSCluster") || found && fmt.Sprint(limit) != "1" {
			t.Errorf("%s has the limit %v", object.GetKind(), limit)
		}
	}
}

// What the machine shall fill in is written like what Flux fills in.
func TestFluxLeavesTheMachinesVariablesAlone(t *testing.T) {
	seen := 0
	for _, object := range applied(t, capa(t), "cluster") {
		for _, path := range [][]string{
			{"spec", "kubeadmConfigSpec", "initConfiguration"}, {"spec", "kubeadmConfigSpec", "joinConfiguration"},
			{"spec", "template", "spec", "joinConfiguration"},
		} {
			name, found, _ := unstructured.NestedString(object.Object, append(path, "nodeRegistration", "name")...)
			if !found {
				continue
			}
			seen++
			if name != "${COREOS_EC2_HOSTNAME}" {
				t.Errorf("%s, %s: the node is named %q", object.GetKind(), path[len(path)-1], name)
			}
		}
	}
	if seen != 3 {
		t.Errorf("nodes are named in %d places, want 3", seen)
	}
}

// Proxies must be in force before the machine's own commands, which must not be lost for them.
func TestProxiesComeBeforeTheMachinesOwnCommands(t *testing.T) {
	for _, object := range applied(t, capa(t, "proxies.http_proxy=http://proxy:3128"), "cluster") {
		path := map[string][]string{"KubeadmControlPlane": {"spec", "kubeadmConfigSpec", "preKubeadmCommands"},
			"KubeadmConfigTemplate": {"spec", "template", "spec", "preKubeadmCommands"}}[object.GetKind()]
		if path == nil {
			continue
		}
		commands, _, _ := unstructured.NestedStringSlice(object.Object, path...)
		want := []string{"systemctl daemon-reload", "systemctl restart containerd",
			"(umask 077 && envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp)",
			"mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml"}
		if diff := cmp.Diff(want, commands); diff != "" {
			t.Errorf("%s (-want +got):\n%s", object.GetKind(), diff)
		}
	}
}

// The credentials go from a Secret to a Secret, and are nowhere else.
func TestAWSCredentialsAreInSecretsOnly(t *testing.T) {
	env := capa(t, "debug_values=true")
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(objects.InfraSecrets.Data["values.yaml"]), awsProfile) {
		t.Error("management-cluster-infra-secrets does not hold the credentials")
	}
	if strings.Contains(objects.Values.Data["values.yaml"], awsProfile) ||
		strings.Contains(string(objects.Secrets.Data["values.yaml"]), awsProfile) {
		t.Error("the credentials are in other values too")
	}
	for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
		rendered, err := env.Render(phase, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, object := range rendered {
			text := string(toYAML(t, []*unstructured.Unstructured{object}))
			if !strings.Contains(text, awsProfile) {
				continue
			}
			if found = object.GetKind() == "Secret" && object.GetName() == "telco-cloud-init-aws-credentials"; !found {
				t.Errorf("%s: %s %s holds the credentials", phase, object.GetKind(), object.GetName())
			}
		}
		if !found {
			t.Errorf("%s: there is no Secret with the credentials", phase)
		}
	}
	// --set is on the command line, but what it sets does not get from there into a ConfigMap.
	set := load(t, environment.Options{Name: "kubeadm-capa", Variables: variables(awsVariables()),
		Sets: []string{"cluster.aws.credentials=Cg=="}})
	if objects, err = set.Objects(); err != nil || strings.Contains(objects.Values.Data["values.yaml"], "Cg==") {
		t.Errorf("--set wrote the credentials into the ConfigMap (%v)", err)
	}
}

func TestCAPACarriesTheLabelThatMoveLooksFor(t *testing.T) {
	files, _ := components(t)
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/kustomize-components/capa")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, resource := range resources.Resources() {
		labels := resource.GetLabels()
		if _, ok := labels["clusterctl.cluster.x-k8s.io"]; resource.GetKind() == "CustomResourceDefinition" && ok &&
			labels["cluster.x-k8s.io/provider"] == "infrastructure-aws" {
			seen++
		}
	}
	if seen == 0 {
		t.Error("no definition of infrastructure-aws would be moved")
	}
}

// Other credentials replace the provider's pod; the hash in its template tells them apart and does not tell them.
func TestOtherCredentialsAreAnotherPod(t *testing.T) {
	hash := func(credentials, key string) string {
		values := awsVariables()
		values["AWS_B64ENCODED_CREDENTIALS"] = credentials
		env := load(t, environment.Options{Name: "kubeadm-capa", Variables: variables(values),
			Sets: []string{"secret_fingerprint_key=" + key}})
		for _, object := range applied(t, env, "capa") {
			if object.GetKind() == "Deployment" {
				hash, _, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations",
					"cluster-init.io/credentials")
				return hash
			}
		}
		return ""
	}
	one := hash(awsProfile, "a")
	if other := hash("Cg==", "a"); len(one) != 8 || len(other) != 8 || one == other {
		t.Errorf("hashes %q and %q", one, other)
	}
	if other := hash(awsProfile, "b"); one == other {
		t.Errorf("the hash %q does not depend on the key: guesses can be tried on it", one)
	}
	if without := hash(awsProfile, ""); without != "unknown" {
		t.Errorf("without a key the hash is %q", without)
	}
}

func TestAWSTemplateHashFollowsTheMachines(t *testing.T) {
	hash := func(sets ...string) string {
		for _, object := range applied(t, capa(t, sets...), "cluster") {
			if object.GetKind() == "AWSMachineTemplate" {
				return object.GetName()
			}
		}
		return ""
	}
	base := hash()
	for set, changes := range map[string]bool{
		"cluster.aws.s3_bucket_name=cluster-api-provider-aws-other": false, "cluster.worker.replicas=1": false,
		"cluster.aws.credentials=Cg==":                    false,
		"cluster.aws.control_plane_machine_type=m5.large": true, "cluster.aws.ssh_key_name=x": true,
		"cluster.aws.root_volume_size=50": true,
		"cluster.image=ami-1":             true, "cluster.aws.image_lookup_base_os=flatcar-beta": true,
	} {
		if got := hash(set) != base; got != changes {
			t.Errorf("--set %s: new templates %v, want %v", set, got, changes)
		}
	}
}

func TestBadInputForAWS(t *testing.T) {
	cases := map[string]struct {
		change  map[string]string // of the variables
		sets    []string
		code    fault.Code
		message string
	}{
		"no region": {map[string]string{"AWS_REGION": ""}, nil, fault.ValuesInvalid,
			"AWS_REGION"},
		"no such region": {map[string]string{"AWS_REGION": "Frankfurt"}, nil, fault.ValuesInvalid,
			"/cluster/aws/region"},
		"no bucket": {map[string]string{"AWS_S3_BUCKET_NAME": ""}, nil, fault.ValuesInvalid,
			"AWS_S3_BUCKET_NAME"},
		"bucket that AWS refuses": {map[string]string{"AWS_S3_BUCKET_NAME": "Telco_1"}, nil,
			fault.ValuesInvalid, "s3_bucket_name"},
		"no credentials": {map[string]string{"AWS_B64ENCODED_CREDENTIALS": ""}, nil,
			fault.ValuesInvalid, "clusterawsadm bootstrap credentials encode-as-profile"},
		"credentials that are not base64": {map[string]string{"AWS_B64ENCODED_CREDENTIALS": "[default] s3cret"}, nil,
			fault.ValuesInvalid, "not base64"},
		"cloud-config": {nil, []string{"cluster.bootstrap_format=cloud-config"}, fault.ValuesInvalid,
			"Flatcar"},
		"account that is no number": {nil, []string{"cluster.aws.image_lookup_org=telco"}, fault.ValuesInvalid,
			"/cluster/aws/image_lookup_org"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			values := awsVariables()
			for key, value := range test.change {
				values[key] = value
			}
			_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capa",
				Content: clusterinit.Content(), Variables: variables(values), Sets: test.sets})
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error()+fault.HintOf(err), test.message) {
				t.Errorf("error %v with code %s, want %q", err, fault.CodeOf(err), test.message)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Error("the error holds the credentials")
			}
		})
	}
}

func TestDerivedVariables(t *testing.T) {
	asked := map[string]int{}
	derive := func(_ context.Context, name string) (string, bool, error) {
		asked[name]++
		switch name {
		case "AWS_B64ENCODED_CREDENTIALS":
			return awsProfile, true, nil
		case "AWS_REGION":
			return "eu-west-1", true, nil
		}
		return "", false, nil
	}
	shell := map[string]string{"AWS_REGION": "eu-central-1", "AWS_S3_BUCKET_NAME": "cluster-api-provider-aws-telco"}
	env := load(t, environment.Options{Name: "kubeadm-capa", Variables: variables(shell), Derive: derive})
	if got := at(env.Values(environment.Management), "cluster.aws.credentials"); got != awsProfile {
		t.Errorf("credentials %v", got)
	}
	if got := at(env.Values(environment.Management), "cluster.aws.region"); got != "eu-central-1" ||
		asked["AWS_REGION"] > 0 {
		t.Errorf("the region is %v: that of the shell counts first", got)
	}

	clear(asked)
	load(t, environment.Options{Name: "kubeadm-capd", Derive: derive})
	if asked["AWS_B64ENCODED_CREDENTIALS"]+asked["AWS_REGION"] > 0 {
		t.Errorf("an environment that does not use them asks for AWS credentials: %v", asked)
	}

	failure := fault.New(fault.CredentialsMissing, "no AWS credentials", "log in")
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capa", Content: clusterinit.Content(),
		Variables: variables(shell),
		Derive: func(_ context.Context, name string) (string, bool, error) {
			if name == "AWS_B64ENCODED_CREDENTIALS" {
				return "", false, failure
			}
			return "", false, nil
		}})
	if !errors.Is(err, failure) || fault.CodeOf(err) != fault.CredentialsMissing || fault.HintOf(err) != "log in" ||
		!strings.Contains(err.Error(), "kubeadm-capa/infra-secrets.yaml") {
		t.Errorf("error %v with hint %q", err, fault.HintOf(err))
	}
}

// cleanup wants to know what a cluster is called, on a machine that has no credentials any more.
func TestNamesOnly(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capa", Content: clusterinit.Content(),
		NamesOnly: true, Sets: []string{"cluster.name=mine"}})
	if err != nil || env.ClusterName() != "mine" {
		t.Fatalf("error %v", err)
	}
	for _, set := range []string{"cluster.name=../../etc", "cluster.nme=x"} {
		if _, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
			Content: clusterinit.Content(), NamesOnly: true, Sets: []string{set}}); fault.CodeOf(
			err) != fault.ValuesInvalid {
			t.Errorf("--set %s: error %v", set, err)
		}
	}
}
