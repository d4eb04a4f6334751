package readiness

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A registry is looked at where a source reads from it, and only then: an engine that does not answer is noted.
func TestTheRegistryThatASourceReadsFrom(t *testing.T) {
	for name, tc := range map[string]struct {
		url, state string
		err        error
		finding    string // "" for none
		noted      bool
	}{
		"it runs":                 {"oci://demo-registry:5000/content", RegistryRunning, nil, "", false},
		"it is stopped":           {"oci://demo-registry:5000/content", "exited", nil, "registry-stopped", false},
		"it is gone":              {"oci://demo-registry:5000/content", RegistryAbsent, nil, "registry-missing", false},
		"the engine is silent":    {"oci://demo-registry:5000/content", "", errors.New("no engine"), "", true},
		"nothing reads from it":   {"https://git.example.org/demo-registry", "exited", nil, "", false},
		"another one is read":     {"oci://other-demo-registry:5000/content", "exited", nil, "", false},
		"a longer name is no hit": {"oci://demo-registry2:5000/content", "exited", nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			source := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1",
				"kind": "OCIRepository", "metadata": map[string]any{"namespace": "flux-system",
					"name": "telco-cloud-init"},
				"spec": map[string]any{"url": tc.url}}}
			o := &observing{Cluster: &kube.Cluster{Name: "management"},
				seen: Observation{Cluster: "management", Objects: []*unstructured.Unstructured{source}}}
			registry := Registry{Name: "demo-registry", State: func(context.Context) (string, error) {
				return tc.state,
					tc.err
			}}
			o.together(t.Context(), o.registryQuestions(newView(o.seen), []Registry{registry}))
			var found []string
			for _, f := range Judge(o.seen) {
				found = append(found, f.ID)
				if len(Blocks([]Finding{f})) == 0 {
					t.Errorf("%s does not block", f.ID)
				}
			}
			if got := strings.Join(found, " "); got != tc.finding {
				t.Errorf("found %q, want %q", got, tc.finding)
			}
			if noted := len(o.seen.NotChecked) > 0; noted != tc.noted {
				t.Errorf("not checked: %q", o.seen.NotChecked)
			}
		})
	}
}
