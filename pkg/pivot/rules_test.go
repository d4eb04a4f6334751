package pivot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// answering has a side answer creations and lists in another way; done false leaves it to the fake cluster.
type answering struct {
	create func(u *unstructured.Unstructured, dryRun bool) (done bool, err error)
	list   func(kind, namespace string) error
}

func (a answering) on(side *clusters.Side) {
	side.Client = interceptor.NewClient(side.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			options := (&client.CreateOptions{}).ApplyOptions(opts)
			if u, ok := o.(*unstructured.Unstructured); ok && a.create != nil {
				if done, err := a.create(u, slices.Equal(options.DryRun, []string{"All"})); done {
					return err
				}
			}
			return c.Create(ctx, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			options := (&client.ListOptions{}).ApplyOptions(opts)
			if a.list != nil {
				if err := a.list(list.GetObjectKind().GroupVersionKind().Kind, options.Namespace); err != nil {
					return err
				}
			}
			return c.List(ctx, list, opts...)
		},
	})
}

// reviewing answers access reviews: it denies what refuses returns true for.
func reviewing(refuses func(verb, resource string) bool) answering {
	return answering{create: func(u *unstructured.Unstructured, _ bool) (bool, error) {
		if u.GetKind() != "SelfSubjectAccessReview" {
			return false, nil
		}
		asked, _, _ := unstructured.NestedStringMap(u.Object, "spec", "resourceAttributes")
		return true, unstructured.SetNestedField(u.Object, !refuses(asked["verb"], asked["resource"]), "status",
			"allowed")
	}}
}

// failing has a dry run of one kind fail.
func failing(kind string, err error) answering {
	return answering{create: func(u *unstructured.Unstructured, dryRun bool) (bool, error) {
		return dryRun && u.GetKind() == kind, err
	}}
}

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "cluster.x-k8s.io", Resource: resource}, "",
		errors.New("not for you"))
}

// An administrator is one who may do everything; others are asked about one by one.
func someVerbs(lacks, of string) answering {
	return reviewing(func(verb, resource string) bool { return verb == "*" || verb == lacks && resource == of })
}

// tenantOf is of another namespace, and names a Secret of the one that is moved, as some providers name credentials.
func tenantOf(name, named string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
		"kind": "DevCluster", "spec": map[string]any{
			"credentialsSecretRef": map[string]any{"namespace": fixture.Namespace, "name": named}}}}
	u.SetNamespace("tenants")
	u.SetName(name)
	return u
}

func TestPlanRefusesWhatOnlyTheRealMoveWouldFind(t *testing.T) {
	webhook := apierrors.NewInternalError(
		errors.New(`failed calling webhook "default.machine.cluster.x-k8s.io": connection refused`))
	rows := map[string]struct {
		edits          []fixture.Edit
		elsewhere      []*unstructured.Unstructured // at the source, in other namespaces
		source, target answering
		want           []pivot.Refusal
	}{
		"an object of the OpenStack Resource Controller takes what it stands for along": {
			edits: []fixture.Edit{fixture.Unset("ServerGroup", "mgmt-control-plane", "spec", "managedOptions")},
			want: []pivot.Refusal{{Rule: pivot.RuleDetach, Object: "ServerGroup management/mgmt-control-plane",
				Reason: "onDelete: detach", Remedy: `"onDelete":"detach"`}},
		},
		"one that is to delete it": {
			edits: []fixture.Edit{fixture.Set("ServerGroup", "mgmt-control-plane", "delete", "spec", "managedOptions",
				"onDelete")},
			want: []pivot.Refusal{{Rule: pivot.RuleDetach, Object: "ServerGroup management/mgmt-control-plane",
				Reason: "managed"}},
		},
		"one that only stands for what somebody else made": {
			edits: []fixture.Edit{fixture.Unset("ServerGroup", "mgmt-control-plane", "spec", "managedOptions"),
				fixture.Set("ServerGroup", "mgmt-control-plane", "unmanaged", "spec", "managementPolicy")},
		},
		"the Clusters of other namespaces may not be listed": {
			source: answering{list: func(kind, namespace string) error {
				if kind == "ClusterList" && namespace == "" {
					return forbidden("clusters")
				}
				return nil
			}},
			want: []pivot.Refusal{{Rule: pivot.RuleElsewhere, Reason: "it is not known whether",
				Remedy: "permission to list"}},
		},
		"the Machines of other namespaces may not be listed": {
			source: answering{list: func(kind, namespace string) error {
				if kind == "MachineList" && namespace == "" {
					return forbidden("machines")
				}
				return nil
			}},
			want: []pivot.Refusal{{Rule: pivot.RuleElsewhere, Reason: "it is not known whether",
				Remedy: "permission to list"}},
		},
		"what stays in another namespace names what would leave, and something else of the namespace": {
			elsewhere: []*unstructured.Unstructured{tenantOf("tenant", "mgmt-ca"), tenantOf("other", "no-such")},
			want: []pivot.Refusal{{Rule: pivot.RuleElsewhere, Object: "Secret management/mgmt-ca",
				Reason: "is named by DevCluster tenants/tenant", Remedy: "kubectl"}},
		},
		"the user of the source may not delete machines": {
			source: someVerbs("delete", "machines"),
			want: []pivot.Refusal{{Rule: pivot.RulePermissions, Object: "machines.cluster.x-k8s.io of the source",
				Reason: "may not delete"}},
		},
		"the user of the target may not create Secrets": {
			target: someVerbs("create", "secrets"),
			want: []pivot.Refusal{{Rule: pivot.RulePermissions, Object: "secrets of the target",
				Reason: "may not create"}},
		},
		"users who are no administrators, and may do all that is needed": {source: someVerbs("watch", "secrets"),
			target: someVerbs("delete", "secrets")},
		"a webhook of the target does not answer": {
			target: failing("Machine", webhook),
			want: []pivot.Refusal{{Rule: pivot.RuleWebhooks, Object: "Machine management/mgmt-cp-a",
				Reason: "failed calling webhook", Remedy: "See whether the provider"}},
		},
		"the target refuses an object": {
			target: failing("Cluster", apierrors.NewBadRequest("admission webhook denied it")),
			want:   []pivot.Refusal{{Rule: pivot.RuleWebhooks, Object: "Cluster management/mgmt", Reason: "denied"}},
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			from, to := sides(t, source(row.edits...), target())
			for _, u := range row.elsewhere {
				if err := from.Client.Create(t.Context(), u); err != nil {
					t.Fatal(err)
				}
			}
			row.source.on(&from)
			row.target.on(&to)
			_, err := pivot.NewPlan(t.Context(), from, to, scope)
			if len(row.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			got := pivot.Refusals(err)
			if fault.CodeOf(err) != fault.PivotRefused || len(got) != len(row.want) {
				t.Fatalf("got %v, want %d reasons", err, len(row.want))
			}
			for i, want := range row.want {
				if got[i].Rule != want.Rule || got[i].Object != want.Object ||
					!strings.Contains(got[i].Reason, want.Reason) || !strings.Contains(got[i].Remedy, want.Remedy) ||
					got[i].Remedy == "" {
					t.Errorf("reason %d is %+v, want %+v", i, *got[i], want)
				}
			}
		})
	}
}

// The API server's own problems say nothing about an object: then the verdict is not known.
func TestPlanIsNoRefusalWhenWebhooksCannotBeAsked(t *testing.T) {
	for name, trouble := range map[string]error{
		"no connection": errors.New("connection reset"), "overloaded": apierrors.NewTooManyRequests("later", 1),
		"starting": apierrors.NewServiceUnavailable("etcd"), "its own": apierrors.NewInternalError(
			errors.New("etcd has no leader")),
	} {
		from, to := sides(t, source(), target())
		failing("Machine", trouble).on(&to)
		if _, err := pivot.NewPlan(t.Context(), from, to, scope); fault.CodeOf(err) != fault.ClusterUnreachable ||
			!fault.CanRetry(err) {
			t.Errorf("%s: got %v (%s), want %s", name, err, fault.CodeOf(err), fault.ClusterUnreachable)
		}
	}
}

// A kind that the target does not know is refused as that, and not tried.
func TestPlanDoesNotTryWhatTheTargetLacks(t *testing.T) {
	from, to := sides(t, source(), with(target(), gone("DevCluster")))
	failing("DevCluster", errors.New("no matches for kind")).on(&to)
	_, err := pivot.NewPlan(t.Context(), from, to, scope)
	if got := pivot.Refusals(err); fault.CodeOf(err) != fault.PivotRefused || len(got) != 1 ||
		got[0].Rule != pivot.RuleLabels {
		t.Errorf("got %v (%s), want one refusal by the rule %s", err, fault.CodeOf(err), pivot.RuleLabels)
	}
}

// Two clusters that do not fit together are known before anything moves; what goes away by waiting is none of that.
func TestCheckSides(t *testing.T) {
	for name, row := range map[string]struct {
		from, to side
		want     pivot.Rule // empty: they fit
	}{
		"they fit": {source(), target(), ""},
		"they fit, and nothing is ready": {source(fixture.Set("Cluster", "mgmt", true, "spec", "paused")), target(),
			""},
		"a kind is not there": {source(), with(target(), gone("DevCluster")), pivot.RuleLabels},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := sides(t, row.from, row.to)
			err := pivot.CheckSides(t.Context(), from, to, scope)
			got := pivot.Refusals(err)
			if row.want == "" && err != nil || row.want != "" && (len(got) != 1 || got[0].Rule != row.want ||
				fault.CodeOf(err) != fault.PivotRefused) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

// What is tried on the target is one object of each kind, without what it cannot have there, and without what is
// secret; in another namespace where the target lacks that of the Cluster.
func TestRehearsal(t *testing.T) {
	from, to := sides(t, source(), target())
	if err := to.Client.Delete(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: scope.Namespace}}); err != nil {
		t.Fatal(err)
	}
	tried := make(chan *unstructured.Unstructured, 100)
	answering{create: func(u *unstructured.Unstructured, dryRun bool) (bool, error) {
		if u.GetKind() == "SelfSubjectAccessReview" {
			return false, nil
		}
		if !dryRun {
			t.Errorf("%s %s was created", u.GetKind(), u.GetName())
		}
		tried <- u.DeepCopy()
		return false, nil
	}}.on(&to)
	if _, err := pivot.NewPlan(t.Context(), from, to, scope); err != nil {
		t.Fatal(err)
	}
	close(tried)
	kinds := map[string]int{}
	for u := range tried {
		kinds[u.GetKind()]++
		for _, field := range []string{"status", "data", "stringData"} {
			if _, there := u.Object[field]; there {
				t.Errorf("%s was tried with %s", u.GetKind(), field)
			}
		}
		if u.GetUID() != "" || u.GetResourceVersion() != "" || len(u.GetOwnerReferences()) > 0 ||
			u.GetNamespace() != "default" {
			t.Errorf("%s was tried with the metadata %v", u.GetKind(), u.Object["metadata"])
		}
	}
	want := map[string]int{"Secret": 1, "ConfigMap": 1}
	for _, kind := range fixture.Kinds() {
		want[kind.Kind] = 1
	}
	for kind := range want {
		if kinds[kind] != 1 {
			t.Errorf("%s was tried %d times", kind, kinds[kind])
		}
	}
	if left, err := capi.Discover(t.Context(), to.Client, "default"); err != nil || len(left.All()) > 0 {
		t.Errorf("on the target: %v, %v", left.All(), err)
	}
}

// A move holds clusterctl's own records of both sides against each other; its dry run does not.
func TestPlanHoldsRecordsOfProvidersAgainstEachOther(t *testing.T) {
	for name, row := range map[string]struct{ source, target, want string }{
		"none":                     {"", "", ""},
		"the same":                 {"v1.14.0", "v1.14.0", ""},
		"the target's is newer":    {"v1.14.0", "v1.14.1", ""},
		"the target's is older":    {"v1.14.0", "v1.13.2", "version v1.14.0 at the source, v1.13.2 on the target"},
		"the source's alone":       {"v1.14.0", "", "at the source only"},
		"the target's alone":       {"", "v1.14.0", ""},
		"one that is no version":   {"v1.14.0", "latest", "one of them is none"},
		"both that are no version": {"main", "main", "one of them is none"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := sides(t, source(), target())
			recorded(t, from.Client, row.source)
			recorded(t, to.Client, row.target)
			_, err := pivot.NewPlan(t.Context(), from, to, scope)
			got := pivot.Refusals(err)
			if row.want == "" && err != nil || row.want != "" && (len(got) != 1 || got[0].Rule != pivot.RuleProviders ||
				!strings.Contains(got[0].Reason, row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func recorded(t *testing.T, c client.Client, version string) {
	t.Helper()
	if version == "" {
		return
	}
	u := &unstructured.Unstructured{Object: map[string]any{"providerName": "docker", "type": "InfrastructureProvider",
		"version": version}}
	u.SetAPIVersion("clusterctl.cluster.x-k8s.io/v1alpha3")
	u.SetKind("Provider")
	u.SetName("infrastructure-docker")
	u.SetNamespace("capd-system")
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}

// A ClusterClass may have its patches computed by an extension. Without that the target could reconcile nothing of it.
func TestAClassWhoseExtensionTheTargetLacks(t *testing.T) {
	class, ofItsClass := fixture.Class()
	class.Object["spec"] = map[string]any{"patches": []any{map[string]any{"name": "p",
		"external": map[string]any{"generatePatchesExtension": "generate-patches.lab",
			"discoverVariablesExtension": "variables.lab"}}}}
	extension := func(handlers ...any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"handlers": handlers}}}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: "runtime.cluster.x-k8s.io", Version: "v1beta2",
			Kind: "ExtensionConfig"})
		u.SetName("lab")
		return u
	}
	handler := func(name string) any { return map[string]any{"name": name} }
	for name, tc := range map[string]struct {
		there *unstructured.Unstructured
		want  []string
	}{
		"it is not there": {nil,
			[]string{"generate-patches.lab of ExtensionConfig lab, which the target does not have",
				"variables.lab of ExtensionConfig lab, which the target does not have"}},
		"one of its handlers is not": {extension(handler("variables.lab")),
			[]string{"generate-patches.lab of ExtensionConfig lab, which has not discovered it"}},
		"it is there": {extension(handler("variables.lab"), handler("generate-patches.lab")), nil},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := sides(t, source(ofItsClass), target())
			for _, side := range []clusters.Side{from, to} {
				must(t, side.Client.Create(t.Context(), fixture.CRDOf(fixture.ClassKind)))
			}
			must(t, fixture.Create(t.Context(), from.Client, fixture.Namespace, oneOf(class.DeepCopy())))
			if tc.there != nil {
				crd := fixture.CRDOf(tc.there.GroupVersionKind())
				crd.Labels = nil
				must(t, to.Client.Create(t.Context(), crd))
				must(t, to.Client.Create(t.Context(), tc.there))
			}
			_, err := pivot.NewPlan(t.Context(), from, to, scope)
			var got []string
			for _, r := range pivot.Refusals(err) {
				if r.Rule == pivot.RuleExtensions {
					got = append(got, r.Reason)
				}
			}
			if len(got) != len(tc.want) {
				t.Fatalf("got %q (%v), want %q", got, err, tc.want)
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

// A pivot that is run again keeps the rules about machines; only a move back from an unhealthy cluster goes without
// them. What may be overwritten is judged by the record of the earlier run then.
func TestGuards(t *testing.T) {
	of := []string{"checkMachines", "checkReady", "checkTarget"}
	for name, row := range map[string]struct {
		back, again bool
		has         []string
	}{
		"a pivot":                {false, false, []string{"checkMachines", "checkReady", "checkTarget"}},
		"a pivot, run again":     {false, true, []string{"checkMachines", "checkReady"}},
		"a move back":            {true, false, []string{"checkTarget"}},
		"a move back, run again": {true, true, nil},
	} {
		names := pivot.Input{Back: row.back}.GuardNames(row.again)
		var has []string
		for _, guard := range of {
			if slices.Contains(names, guard) {
				has = append(has, guard)
			}
		}
		copies := strings.Contains(names[len(names)-1], "checkCopies")
		if !slices.Equal(has, row.has) || copies != row.again || !slices.Contains(names, "checkCluster") {
			t.Errorf("%s: %v", name, names)
		}
	}
}
