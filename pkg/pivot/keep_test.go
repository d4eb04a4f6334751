package pivot_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// livingSide is a management cluster that fails the test when it is changed; meanwhile runs before its Clusters are
// read the last time.
func livingSide(t *testing.T, s side, meanwhile func(client.Client)) clusters.Side {
	t.Helper()
	return unwritable(t, s.client(t), meanwhile)
}

// unwritable is a cluster that fails the test when it is changed.
func unwritable(t *testing.T, c client.Client, meanwhile func(client.Client)) clusters.Side {
	t.Helper()
	inner := c.(client.WithWatch)
	changed := func(o client.Object) {
		t.Errorf("%s %s is changed", o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
	}
	return clusters.Side{Client: interceptor.NewClient(inner, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			changed(o)
			return nil
		},
		Update: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			changed(o)
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.DeleteOption) error {
			changed(o)
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, o client.Object, _ client.Patch,
			_ ...client.PatchOption) error {
			changed(o)
			return nil
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Kind == "DeploymentList" && meanwhile != nil {
				meanwhile(inner)
			}
			return c.List(ctx, list, opts...)
		},
	})}
}

func keeper(t *testing.T) pivot.Keeper {
	t.Helper()
	return pivot.Keeper{Dir: t.TempDir(), Version: "v1",
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
}

func TestKeep(t *testing.T) {
	k := keeper(t)
	// The template of the load balancer has lost its label: it does not move, and something that moves names it.
	unlabelled := fixture.Unset("ConfigMap", "mgmt-load-balancer", "metadata", "labels")
	release := fixture.One("ConfigMap", "mgmt-load-balancer")[0].DeepCopy()
	kept, err := k.Keep(t.Context(), livingSide(t, source(unlabelled), nil), scope,
		pivot.Extent{Environment: []*unstructured.Unstructured{release}})
	if err != nil {
		t.Fatal(err)
	}
	path, manifest := kept.Path, kept.Manifest
	b, err := backup.Open(path, backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	references := b.Section(backup.References)
	if len(b.Section(backup.Objects)) != len(everything())-1 || len(references) != 1 ||
		references[0].GetName() != "mgmt-load-balancer" || len(b.Section(backup.Environment)) != 1 {
		t.Errorf("it has %v", b.Manifest.Files)
	}
	if manifest.Kubernetes != "v1.36.4" || manifest.Identity != backup.IdentityOf([]byte("the-certificate")) ||
		len(manifest.Providers) == 0 || manifest.CreatedBy != "v1" {
		t.Errorf("the manifest is %+v", manifest)
	}
	if left, err := filepath.Glob(filepath.Join(k.Dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
	text, err := os.ReadFile(filepath.Join(path, backup.ManifestFile))
	if err != nil || strings.Contains(string(text), "dGhlLWtleQ") {
		t.Errorf("the manifest shows a key: %v", err)
	}
}

// What belongs to the whole cluster is kept where a provider's controllers need it, with what it names itself: a
// cluster elsewhere does not have it.
func TestKeepHoldsTheIdentityOfTheWholeCluster(t *testing.T) {
	c, err := fixture.FakeClient(fixture.SceneDefinitions())
	must(t, err)
	must(t, fixture.Create(t.Context(), c, "capi-system", fixture.Providers()))
	identity := map[string]any{"type": "ClusterIdentity", "name": "central"}
	must(t, fixture.Create(t.Context(), c, fixture.Namespace, everything(), fixture.Set("DevCluster", "mgmt", identity,
		"spec", "identityRef")))
	must(t, fixture.Create(t.Context(), c, "cloud-system", fixture.One("Secret", "cloud-credentials"),
		func(u *unstructured.Unstructured) { u.SetName("central-cloud") }))
	central := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"secretRef": map[string]any{"name": "central-cloud", "namespace": "cloud-system"}}}}
	central.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1alpha1")
	central.SetKind("OpenStackClusterIdentity")
	central.SetName("central")
	central.SetUID("central")
	must(t, c.Create(t.Context(), central))
	held, err := keeper(t).Keep(t.Context(), unwritable(t, c, nil), scope, pivot.Extent{})
	must(t, err)
	b, err := backup.Open(held.Path, backup.Identities{})
	must(t, err)
	var kept []string
	for _, u := range b.Section(backup.References) {
		kept = append(kept, capi.ObjectOf(u).String())
	}
	if want := []string{"OpenStackClusterIdentity central", "Secret cloud-system/central-cloud"}; !slices.Equal(
		kept, want) {
		t.Errorf("it keeps %v, want %v", kept, want)
	}
}

func TestWhatMustNotBeKept(t *testing.T) {
	pause := func(c client.Client) {
		u := inNamespace(fixture.One("Cluster", "mgmt")[0])
		if err := c.Patch(context.Background(), u, client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec":{"paused":true}}`))); err != nil {
			panic(err)
		}
	}
	for name, tc := range map[string]struct {
		cluster   side
		meanwhile func(client.Client)
		want      string
	}{
		"paused": {source(paused), nil, "Cluster management/mgmt is paused"},
		"a paused tenant": {holding(append(everything(), tenant()), tenantPaused), nil,
			"Cluster management/tenant is paused"},
		"its definition is elsewhere":    {target(), nil, "does not hold its own definition"},
		"a move begins while it is read": {source(), pause, "is paused"},
	} {
		t.Run(name, func(t *testing.T) {
			k := keeper(t)
			_, err := k.Keep(t.Context(), livingSide(t, tc.cluster, tc.meanwhile), scope, pivot.Extent{})
			if fault.CodeOf(err) != fault.BackupRefused || !strings.Contains(err.Error(), tc.want) ||
				fault.HintOf(err) == "" {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if left, err := os.ReadDir(k.Dir); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// The Cluster API objects of workload clusters' namespaces are kept with the management cluster's own, and only as they
// were decided upon.
func TestKeepHoldsOtherNamespaces(t *testing.T) {
	c := source().client(t)
	must(t, fixture.Create(t.Context(), c, "team-a", fixture.Named("shop")))
	must(t, fixture.Create(t.Context(), c, "team-b", fixture.Named("other")))
	more := pivot.Extent{Workloads: []backup.WorkloadCluster{{Namespace: "team-a", Cluster: "shop",
		ManagedBy: scope.Namespace + "/" + scope.Cluster}}}
	held, err := keeper(t).Keep(t.Context(), unwritable(t, c, nil), scope, more)
	must(t, err)
	manifest := held.Manifest
	b, err := backup.Open(held.Path, backup.Identities{})
	must(t, err)
	if got := len(b.Section(backup.Objects)); got != 2*len(everything()) || len(manifest.Workloads) != 1 {
		t.Errorf("%d objects, want twice %d; %+v", got, len(everything()), manifest.Workloads)
	}
	for _, u := range b.Section(backup.Objects) {
		if u.GetNamespace() == "team-b" {
			t.Errorf("it keeps %s", capi.ObjectOf(u))
		}
	}
	shop := fixture.Named("shop")[0]
	shop.SetNamespace("team-a")
	must(t, c.Patch(t.Context(), shop, client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"paused":true}}`))))
	if _, err := keeper(t).Keep(t.Context(), unwritable(t, c, nil), scope, more); fault.CodeOf(
		err) != fault.BackupRefused || !strings.Contains(err.Error(), "Cluster team-a/shop has just been paused") {
		t.Errorf("paused meanwhile: %v", err)
	}
}

// A health check that was just made has no owner for a moment. clusterctl would not restore it: a backup waits until
// it has one, and otherwise names it.
func TestKeepWaitsForOwners(t *testing.T) {
	unowned := fixture.Unset("MachineHealthCheck", "mgmt-md", "metadata", "ownerReferences")
	gone := []any{map[string]any{"apiVersion": "example.org/v1", "kind": "Gone", "name": "gone", "uid": "gone"}}
	lost := fixture.Set("MachineSet", "mgmt-md-1", gone, "metadata", "ownerReferences")
	orphan := fixture.Set("Secret", "cloud-credentials", gone, "metadata", "ownerReferences")
	for name, tc := range map[string]struct {
		edits []fixture.Edit
		owns  bool // a controller makes the Cluster the owner
		took  time.Duration
		left  []string
	}{
		"all have owners":  {},
		"it gets an owner": {edits: []fixture.Edit{unowned}, owns: true, took: time.Second},
		"it gets none":     {edits: []fixture.Edit{unowned}, took: 30 * time.Second, left: []string{"mgmt-md"}},
		"its owner does not exist": {edits: []fixture.Edit{lost}, took: 30 * time.Second,
			left: []string{"mgmt-md-1-b", "mgmt-md-1"}},
		"it is saved among the references": {edits: []fixture.Edit{orphan}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, k := source(tc.edits...).client(t), keeper(t)
				var said []string
				k.Waiting = func(what string) {
					said = append(said, what)
					if tc.owns {
						own(t, c)
					}
				}
				began := time.Now()
				kept, err := k.Keep(t.Context(), unwritable(t, c, nil), scope, pivot.Extent{})
				must(t, err)
				var left []string
				for _, l := range kept.Left {
					left = append(left, l.Name)
				}
				if took := time.Since(began); took != tc.took || len(said) > 1 || len(said) == 1 != (took > 0) ||
					!slices.Equal(left, tc.left) {
					t.Errorf("after %s it left out %v, and said %q", took, left, said)
				}
			})
		})
	}
}

// own makes the Cluster the owner of its health check, as a controller does.
func own(t *testing.T, c client.Client) {
	t.Helper()
	cluster, check := inNamespace(fixture.One("Cluster", "mgmt")[0]), inNamespace(fixture.One("MachineHealthCheck",
		"mgmt-md")[0])
	for _, u := range []*unstructured.Unstructured{cluster, check} {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(u), u))
	}
	check.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: cluster.GetAPIVersion(), Kind: "Cluster",
		Name: cluster.GetName(), UID: cluster.GetUID()}})
	must(t, c.Update(t.Context(), check))
}
