//go:build integration

package pivot_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// refusedBy returns the objects that a rule refuses.
func (s *stage) refusedBy(rule pivot.Rule) []string {
	s.t.Helper()
	_, err := pivot.NewPlan(s.t.Context(), s.Source, s.Target, s.Scope)
	if err != nil && fault.CodeOf(err) != fault.PivotRefused {
		s.t.Fatal(err)
	}
	var objects []string
	for _, r := range pivot.Refusals(err) {
		if r.Rule == rule {
			objects = append(objects, r.Object)
		}
	}
	slices.Sort(objects)
	return objects
}

// A webhook of the target without a server is found before a move, whether or not the target has the namespace and the
// object already.
func TestWebhooksOfTheTargetAreAsked(t *testing.T) {
	s := newStage(t)
	nobody := "https://127.0.0.1:1/validate"
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	hook := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "nobody-answers"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "machines.example.org", FailurePolicy: &fail, SideEffects: &none,
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            admissionv1.WebhookClientConfig{URL: &nobody},
			Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule: admissionv1.Rule{APIGroups: []string{"cluster.x-k8s.io"}, APIVersions: []string{"*"},
					Resources: []string{"machines"}}}},
		}}}
	if got := s.refusedBy(pivot.RuleWebhooks); len(got) > 0 {
		t.Fatalf("without a webhook: %v", got)
	}
	if err := s.Target.Client.Create(t.Context(), hook); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Target.Client.Delete(t.Context(), hook); err != nil {
			t.Error(err)
		}
	}()
	want := []string{"Machine " + s.Scope.Namespace + "/mgmt-cp-a"}
	asked := func() []string { return s.refusedBy(pivot.RuleWebhooks) }
	eventually(t, "the API server calls the webhook", func() bool { return slices.Equal(asked(), want) })
	if err := fixture.Create(t.Context(), s.Target.Client, s.Scope.Namespace,
		fixture.One("Cluster", "mgmt")); err != nil {
		t.Fatal(err)
	}
	if got := asked(); !slices.Equal(got, want) {
		t.Errorf("with the namespace and the Cluster on the target: %v, want %v", got, want)
	}
	if got := s.refusedBy(pivot.RuleTarget); !slices.Equal(got, []string{"Cluster " + s.Scope.Namespace + "/mgmt"}) {
		t.Errorf("on the target: %v", got)
	}
}

// What the users of the two kubeconfigs may not do is known before a move, as the API servers themselves know it.
func TestPermissionsOnBothSides(t *testing.T) {
	s := newStage(t)
	for where, side := range map[string]*clusters.Side{"source": &s.Source, "target": &s.Target} {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reads-all"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}},
			{APIGroups: []string{"cluster.x-k8s.io"}, Resources: []string{"*"},
				Verbs: []string{"patch", "delete", "create", "update"}},
		}}
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "reads-all"},
			RoleRef:  rbacv1.RoleRef{Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{Kind: "User", Name: "reader"}}}
		for _, o := range []client.Object{role, binding} {
			if err := side.Client.Create(t.Context(), o); err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			defer func(c client.Client) {
				if err := c.Delete(t.Context(), o); err != nil {
					t.Error(err)
				}
			}(side.Client)
		}
		side.Client = as(t, side.Config, "reader")
	}
	var got []string
	eventually(t, "the API servers know the role", func() bool {
		_, err := pivot.NewPlan(t.Context(), s.Source, s.Target, s.Scope)
		if fault.CodeOf(err) != fault.PivotRefused {
			return false
		}
		got = s.refusedBy(pivot.RulePermissions)
		return true
	})
	for _, object := range got {
		if strings.HasSuffix(strings.Fields(object)[0], "s.cluster.x-k8s.io") && strings.Count(object, ".") == 3 {
			t.Errorf("%s is refused, and all of it is allowed", object)
		}
	}
	for _, want := range []string{"secrets of the source", "secrets of the target",
		"kubeadmconfigs.bootstrap.cluster.x-k8s.io of the source", "namespace " + s.Scope.Namespace +
			" of the target"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not refused: %v", want, got)
		}
	}
	if hooks := s.refusedBy(pivot.RuleWebhooks); slices.ContainsFunc(
		hooks, func(o string) bool { return strings.HasPrefix(o, "Secret") }) {
		t.Errorf("what may not be created was tried: %v", hooks)
	}
}

// as returns a client of another user.
func as(t *testing.T, config *rest.Config, user string) client.Client {
	t.Helper()
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: servers.source.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// To check whether it may continue, a pivot sends at most one request for each kind and one for each side.
func TestWhatAPlanAsks(t *testing.T) {
	s := newStage(t)
	var tries, reviews atomic.Int64
	for _, side := range []*clusters.Side{&s.Source, &s.Target} {
		config := rest.CopyConfig(side.Config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				switch {
				case strings.HasSuffix(r.URL.Path, "selfsubjectaccessreviews"):
					reviews.Add(1)
				case r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == "All":
					tries.Add(1)
				case r.Method != http.MethodGet:
					t.Errorf("a plan has sent %s %s", r.Method, r.URL)
				}
				return next.RoundTrip(r)
			})
		})
		var err error
		if side.Client, err = client.New(config, client.Options{Scheme: side.Client.Scheme()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pivot.NewPlan(t.Context(), s.Source, s.Target, s.Scope); err != nil {
		t.Fatal(err)
	}
	kinds := int64(len(fixture.Kinds()) + 2) // and Secrets and ConfigMaps
	if tries.Load() != kinds || reviews.Load() != 2 {
		t.Errorf("%d dry runs for %d kinds, and %d reviews of access", tries.Load(), kinds, reviews.Load())
	}
}

// eventually waits for what an API server learns from its own watches.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	bound, tick := time.After(20*time.Second), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-bound:
			t.Fatalf("not within 20s: %s", what)
		case <-tick.C:
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
