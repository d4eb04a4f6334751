package down

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// The bootstrap cluster that `down` creates has the proxies with which the management cluster was built, whatever this
// shell has.
func TestDownKeepsTheValuesOfTheCluster(t *testing.T) {
	from := func(shell map[string]string) *environment.Environment {
		t.Helper()
		env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
			Content:   clusterinit.Content(),
			Variables: func(name string) (string, bool) { value, set := shell[name]; return value, set }})
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	given, err := from(map[string]string{"http_proxy": "http://p:1"}).Objects()
	if err != nil {
		t.Fatal(err)
	}
	broken := given.Values.DeepCopy()
	broken.Data[environment.ValuesKey] = "a: b: c"
	for name, tc := range map[string]struct {
		values *corev1.ConfigMap
		want   string
		warned bool
	}{
		"as it was given":          {given.Values, "http://p:1", false},
		"what is there is no YAML": {broken, "http://q:1", true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &kube.Cluster{Name: "management", Client: fake.NewClientBuilder().WithObjects(
				tc.values, given.Secrets, given.InfraSecrets).Build()}
			run := &Run{Options: Options{Environment: from(map[string]string{"http_proxy": "http://q:1"})}}
			notes := &pipeline.Notes{}
			run.keepValues(t.Context(), clusters.Observation{Management: clusters.ManagementSide{Cluster: cluster}},
				notes)
			if got := run.Environment.Spec().Proxies.HTTP; got != tc.want {
				t.Errorf("the proxy is %q, want %q", got, tc.want)
			}
			if warned := len(notes.Warnings) == 1 &&
				strings.HasPrefix(notes.Warnings[0],
					"this run uses the values of the environment"); warned != tc.warned {
				t.Errorf("warnings %q", notes.Warnings)
			}
		})
	}
}
