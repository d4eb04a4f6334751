//go:build integration && capa

package up

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	ignition "github.com/flatcar/ignition/config/v2_3"
	"github.com/flatcar/ignition/config/v2_3/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/aws"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	awsprovider "github.com/cluster-init/cluster-init/pkg/provider/aws"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// TestKubeadmCAPA verifies the environment kubeadm-capa with the real webhooks and controllers of Cluster API and of
// its provider for AWS. AWS does not answer: the test ends with the first machine's user data.
func TestKubeadmCAPA(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	defer cancel()
	s := newCAPA(ctx, t)
	t.Run("without the feature gates it is refused", s.refused)
	t.Run("with them it is admitted, and missing credentials are named", s.missingCredentials)
	t.Run("credentials that AWS does not know are named", s.invalidCredentials)
	t.Run("the first machine gets Ignition that Flatcar can use", s.userData)
}

// refused disables the feature gates, as the release manifests do.
func (s *capaScene) refused(t *testing.T) {
	env := s.environment(t, aws.NoProfile, "cluster.namespace=refused",
		"components.cabpk.substitute.EXP_KUBEADM_BOOTSTRAP_FORMAT_IGNITION=false",
		"components.capa.substitute.EXP_BOOTSTRAP_FORMAT_IGNITION=false")
	s.run(t, env)
	refusals := map[string]string{}
	for _, object := range s.definition(t, env) {
		if err := shared.Client.ApplyAll(s.ctx, object); err != nil {
			refusals[object.GetKind()+" "+object.GetName()] = err.Error()
		}
	}
	for _, want := range []struct{ kind, gate string }{
		{"KubeadmControlPlane", "KubeadmBootstrapFormatIgnition feature gate"},
		{"KubeadmConfigTemplate", "KubeadmBootstrapFormatIgnition feature gate"},
		{"AWSCluster", "BootstrapFormatIgnition feature gate"},
		{"AWSMachineTemplate", "BootstrapFormatIgnition feature gate"},
	} {
		found := false
		for object, refusal := range refusals {
			if strings.HasPrefix(object, want.kind+" ") {
				found = true
				if !strings.Contains(refusal, want.gate) || !strings.Contains(refusal, "admission webhook") {
					t.Errorf("%s was refused for another reason: %s", object, refusal)
				}
			}
		}
		if !found {
			t.Errorf("%s was admitted without its feature gate", want.kind)
		}
	}
}

// missingCredentials applies the definition, which stays.
func (s *capaScene) missingCredentials(t *testing.T) {
	env := s.environment(t, aws.NoProfile)
	s.run(t, env)
	for _, object := range s.definition(t, env) {
		if err := shared.Client.ApplyAll(s.ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	s.condition(t, "AWSCluster", "infrastructure.cluster.x-k8s.io/v1beta2", "VpcReady", "get credentials")
	s.stuck(t, env, "AWSCluster/kubeadm-capa is Progressing: VpcReady: ", "get credentials")
}

// invalidCredentials makes EC2 answer as it does to an unknown access key.
func (s *capaScene) invalidCredentials(t *testing.T) {
	env := s.environment(t, s.credentials.Profile())
	s.run(t, env)
	s.condition(t, "AWSCluster", "infrastructure.cluster.x-k8s.io/v1beta2", "VpcReady", "AuthFailure")
	s.stuck(t, env, "AWSCluster/kubeadm-capa is Progressing: VpcReady: ", "AuthFailure",
		"not able to validate the provided access credentials")
	if s.asked.Load() == 0 {
		t.Error("nobody asked EC2")
	}
}

// userData reports for AWS that network and load balancer exist, and checks what the bootstrap provider creates then.
func (s *capaScene) userData(t *testing.T) {
	env := s.environment(t, s.credentials.Profile())
	s.run(t, env)
	awsCluster := &unstructured.Unstructured{}
	awsCluster.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta2")
	awsCluster.SetKind("AWSCluster")
	at := client.ObjectKey{Namespace: env.ClusterNamespace(), Name: env.ClusterName()}
	if err := shared.Client.Get(s.ctx, at, awsCluster); err != nil {
		t.Fatal(err)
	}
	endpoint := client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"controlPlaneEndpoint":{"host":"api.example.com","port":6443}}}`))
	if err := shared.Client.Patch(s.ctx, awsCluster, endpoint); err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.Status().Patch(s.ctx, awsCluster, client.RawPatch("application/merge-patch+json",
		[]byte(`{"status":{"ready":true}}`))); err != nil {
		t.Fatal(err)
	}
	secret := s.bootstrapSecret(t, env.ClusterNamespace())
	if format := string(secret.Data["format"]); format != "ignition" {
		t.Fatalf("the user data has the format %q", format)
	}
	config, report, err := ignition.Parse(secret.Data["value"])
	if err != nil || report.IsFatal() {
		t.Fatalf("Ignition refuses it: %v\n%s", err, report.String())
	}
	for _, entry := range report.Entries {
		if entry.Message != "Config has unrecognized key: tls" { // its validator does not see embedded fields
			t.Errorf("Ignition warns: %s", entry)
		}
	}
	checkUserData(t, config)

	// The provider for AWS continues from there, as far as EC2.
	s.condition(t, "AWSMachine", "infrastructure.cluster.x-k8s.io/v1beta2", "InstanceReady", "AuthFailure")
	said := s.stuck(t, env, "AWSCluster/kubeadm-capa is Progressing: VpcReady: ", "AuthFailure")
	if !strings.Contains(said, "; AWSMachine/kubeadm-capa-control-plane-") ||
		!strings.Contains(said, " is Progressing: InstanceReady: failed to query AWSMachine instance") {
		t.Error("the machine is not named")
	}
}

// checkUserData verifies what is specific to Flatcar on EC2.
func checkUserData(t *testing.T, config types.Config) {
	t.Helper()
	files := map[string]string{}
	for _, file := range config.Storage.Files {
		content, err := dataURL(file.Contents.Source)
		if err != nil {
			t.Fatalf("%s: %v", file.Path, err)
		}
		files[file.Path] = content
		if file.Path == "/etc/kubeadm.yml" && (file.Mode == nil || *file.Mode != 0o600) {
			t.Errorf("%s can be read by others", file.Path)
		}
	}
	for path, want := range map[string][]string{
		"/etc/kubeadm.yml": {"name: ${COREOS_EC2_HOSTNAME}", "cloud-provider", "kind: InitConfiguration"},
		"/etc/kubeadm.sh": {"(umask 077 && envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp)",
			"mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml", "kubeadm init"},
	} {
		for _, text := range want {
			if !strings.Contains(files[path], text) {
				t.Errorf("%s does not hold %q:\n%s", path, text, files[path])
			}
		}
	}
	dropins := ""
	for _, unit := range config.Systemd.Units {
		if unit.Name != "kubeadm.service" {
			continue
		}
		for _, dropin := range unit.Dropins {
			dropins += dropin.Contents
		}
	}
	for _, want := range []string{"Requires=coreos-metadata.service\n",
		"After=coreos-metadata.service containerd.service\n", "EnvironmentFile=/run/metadata/flatcar"} {
		if !strings.Contains(dropins, want) {
			t.Errorf("kubeadm.service gets no %q: %q", want, dropins)
		}
	}
}

// stuck follows the management cluster as `up` does, and returns the error. It verifies that the error names the cause
// first.
func (s *capaScene) stuck(t *testing.T, env *environment.Environment, first string, parts ...string) string {
	t.Helper()
	r := releases{environment: env, scope: clusters.IdentityOf(env).Scope, heartbeat: 500 * time.Millisecond,
		kinds: awsprovider.Provider{}.Kinds(), now: time.Now}
	ctx, cancel := context.WithTimeout(s.ctx, 3*time.Second)
	defer cancel()
	report := &told{}
	err := r.follow(ctx, shared.Client, rollout.Goal{What: "the management cluster",
		Ready: []rollout.Key{r.clusterKey()}}, nil, report)
	if fault.CodeOf(err) != fault.ComponentStuck {
		t.Fatalf("error %v with code %s", err, fault.CodeOf(err))
	}
	t.Logf("what `up` says: %v", err)
	_, named, _ := strings.Cut(err.Error(), "not ready: ")
	if !strings.HasPrefix(named, first) {
		t.Errorf("the first thing named is not %s", first)
	}
	cause, _, _ := strings.Cut(named, "; ")
	for _, part := range parts {
		if !strings.Contains(cause, part) {
			t.Errorf("%q is not part of the first cause", part)
		}
	}
	s.secretFree(t, "the error", err.Error())
	s.secretFree(t, "what the run reports", strings.Join(report.lines, "\n"))
	events := &corev1.EventList{}
	if err := shared.Client.List(s.ctx, events); err != nil {
		t.Fatal(err)
	}
	inCluster, jsonErr := json.Marshal(events)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	s.secretFree(t, "the cluster's events", string(inCluster))
	return err.Error()
}
