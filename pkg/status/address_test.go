package status

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// A cluster that was given no address loses the one that its provider made. One that was given an address differs in
// nothing because of it.
func TestAnAddressThatTheClusterLoses(t *testing.T) {
	variables := map[string]string{"OPENSTACK_CLOUD": "telco", "OPENSTACK_IMAGE_NAME": "image",
		"OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "big", "OPENSTACK_NODE_MACHINE_FLAVOR": "small",
		"OPENSTACK_EXTERNAL_NETWORK": "public",
		// {telco: {auth: {auth_url: "https://c"}}}
		"OPENSTACK_CLOUD_YAML_B64": "Y2xvdWRzOiB7dGVsY286IHthdXRoOiB7YXV0aF91cmw6ICJodHRwczovL2MifX19Cg=="}
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capo", Content: clusterinit.Content(),
		Variables: func(name string) (string, bool) { value, set := variables[name]; return value, set }})
	if err != nil {
		t.Fatal(err)
	}
	with, err := env.WithManagedAddress("203.0.113.8")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		given *environment.Environment
		warns bool
	}{"given none": {env, true}, "given one": {with, false}, "nothing is there": {nil, false}} {
		seen := up.Outlook{}
		if tc.given != nil {
			given, err := tc.given.Objects()
			if err != nil {
				t.Fatal(err)
			}
			seen.Stage, seen.Management.State = up.SelfManaged, clusters.ManagementActive
			seen.Management.Cluster = &kube.Cluster{Name: "management", Client: fake.NewClientBuilder().WithScheme(
				clientgoscheme.Scheme).WithObjects(given.Values, given.Secrets, given.InfraSecrets).Build()}
			if drift := compareValues(t.Context(), seen, env); drift == nil || drift.Unknown != "" ||
				len(drift.Values) > 0 {
				t.Errorf("%s: it differs: %+v", name, drift)
			}
		}
		warning := addressWarning(t.Context(), seen, env)
		var plain, wide bytes.Buffer
		r := Report{Environment: "kubeadm-capo", State: Up, Address: warning}
		if err := errors.Join(r.Print(&plain), Wide{r}.Print(&wide)); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{plain.String(), wide.String()} {
			if strings.Contains(text, "address: the provider made the floating IP") != tc.warns {
				t.Errorf("%s:\n%s", name, text)
			}
		}
	}
}
