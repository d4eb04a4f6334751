package status

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// sourceOnly are the answers of an API server that has one source, which reads from the registry, and nothing else.
var sourceOnly = map[string]string{
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"source.toolkit.fluxcd.io",
		"versions":[{"groupVersion":"source.toolkit.fluxcd.io/v1","version":"v1"}],
		"preferredVersion":{"groupVersion":"source.toolkit.fluxcd.io/v1","version":"v1"}}]}`,
	"/apis/source.toolkit.fluxcd.io/v1": `{"kind":"APIResourceList","apiVersion":"v1",
		"groupVersion":"source.toolkit.fluxcd.io/v1","resources":[{"name":"ocirepositories","singularName":"ocirepository",
		"namespaced":true,"kind":"OCIRepository","verbs":["get","list","watch"]}]}`,
	"/apis/source.toolkit.fluxcd.io/v1/ocirepositories": `{"kind":"OCIRepositoryList",
		"apiVersion":"source.toolkit.fluxcd.io/v1","metadata":{},"items":[{"kind":"OCIRepository",
		"apiVersion":"source.toolkit.fluxcd.io/v1","metadata":{"namespace":"flux-system","name":"telco-cloud-init"},
		"spec":{"url":"oci://demo-registry:5000/content"}}]}`,
}

// A source stays ready when the registry that it reads from is stopped: status looks at the container.
func TestARegistryThatIsStoppedIsSeen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, known := sourceOnly[r.URL.Path]
		if !known {
			code := http.StatusNotFound
			if r.Method != http.MethodGet { // a dry run that is not found would be a finding
				code = http.StatusUnauthorized
			}
			w.WriteHeader(code)
			body = fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d}`, code)
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1}
	typed, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	anyKind, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &kube.Cluster{Name: "management", Config: config, Client: typed, Dynamic: anyKind}
	for name, tc := range map[string]struct {
		state   string
		err     error
		finding string // "" for none
	}{
		"running":   {readiness.RegistryRunning, nil, ""},
		"stopped":   {"exited", nil, "registry-stopped"},
		"gone":      {readiness.RegistryAbsent, nil, "registry-missing"},
		"not known": {"", errors.New("no Docker engine answers"), ""},
	} {
		registry := readiness.Registry{Name: "demo-registry",
			State: func(context.Context) (string, error) { return tc.state, tc.err }}
		h := HealthOf(t.Context(), c, registry, "")
		i := slices.IndexFunc(h.Findings, func(f Finding) bool { return strings.HasPrefix(f.ID, "registry-") })
		if found := i >= 0; found != (tc.finding != "") || found && h.Findings[i].ID != tc.finding {
			t.Errorf("%s: %+v, want %q", name, h.Findings, tc.finding)
		}
		if i >= 0 {
			r := Report{State: Up}.withHealth(h)
			if r.State != Progressing || !strings.Contains(r.Why, "Container/demo-registry") {
				t.Errorf("%s: %s, %s", name, r.State, r.Why)
			}
		}
		noted := slices.ContainsFunc(h.NotChecked, func(s string) bool { return strings.Contains(s, "demo-registry") })
		if noted != (tc.err != nil) {
			t.Errorf("%s: not checked: %q", name, h.NotChecked)
		}
	}
}
