package restore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

var repositoryKind = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"}

// named returns an object of namespace team-a.
func named(gvk schema.GroupVersionKind, name string, more map[string]any) *object {
	u := &object{Object: map[string]any{}}
	for key, value := range more {
		u.Object[key] = value
	}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace("team-a")
	u.SetName(name)
	u.SetLabels(map[string]string{"cluster-init.io/workload": "shop"})
	return u
}

func core(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: kind}
}

// shopRelease returns the release of workload cluster team-a/shop with its inputs.
func shopRelease() []*object {
	release := named(fixture.ReleaseKind, "shop", map[string]any{"spec": map[string]any{
		"chartRef": map[string]any{"kind": "OCIRepository", "name": "shop-chart"},
		"valuesFrom": []any{map[string]any{"kind": "ConfigMap", "name": "shop-values"},
			map[string]any{"kind": "Secret", "name": "shop-secrets"}}}})
	release.SetFinalizers([]string{"finalizers.fluxcd.io"})
	release.SetAnnotations(map[string]string{"reconcile.fluxcd.io/forceAt": "then", "mine": "stays"})
	return []*object{release,
		named(repositoryKind, "shop-chart", map[string]any{"spec": map[string]any{"url": "oci://registry.example/x"}}),
		named(core("ConfigMap"), "shop-values", map[string]any{"data": map[string]any{"values.yaml": "a: 1"}}),
		named(core("Secret"), "shop-secrets", map[string]any{"data": map[string]any{"values.yaml": "aHVudGVyMg=="}})}
}

// newWorkloads has a backup that holds workload cluster team-a/shop with its release and what its components name, and
// team-b/legacy without one.
func newWorkloads(t *testing.T, named ...*object) *restoring {
	t.Helper()
	r := newRestoring(t)
	r.backUpWorkloads(t, named...)
	r.Force = true
	r.Target.Client = withFlux(t)
	return r
}

// backUpWorkloads backs up the workload clusters.
func (r *restoring) backUpWorkloads(t *testing.T, named ...*object) {
	t.Helper()
	r.more = []inNamespaceOf{{"team-a", fixture.Named("shop")}, {"team-b", fixture.Named("legacy")}}
	releases := shopRelease()
	if r.release != nil {
		releases[0] = r.release
	}
	r.extent = pivot.Extent{Releases: releases, Workloads: []backup.WorkloadCluster{
		{Namespace: "team-a", Cluster: "shop", ManagedBy: "management/mgmt", Release: true},
		{Namespace: "team-b", Cluster: "legacy", ManagedBy: "management/mgmt"}}, Named: named}
	r.backUp(t)
}

// withFlux returns an empty target that has Flux's kinds.
func withFlux(t *testing.T) client.Client {
	t.Helper()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, gvk := range fixture.Kinds() {
		crds = append(crds, fixture.CRDOf(gvk))
	}
	for _, gvk := range []schema.GroupVersionKind{fixture.ReleaseKind, repositoryKind, fixture.KustomizationKind} {
		crd := fixture.CRDOf(gvk)
		crd.Labels = nil
		crds = append(crds, crd)
	}
	c, err := fixture.FakeClient(crds)
	must(t, err)
	must(t, fixture.Create(t.Context(), c, fixture.Namespace, fixture.Providers()))
	return c
}

// read returns an object of the target; nil if it does not exist.
func (r *restoring) read(t *testing.T, of *object) *object {
	t.Helper()
	u := &object{}
	u.SetGroupVersionKind(of.GroupVersionKind())
	err := r.Target.Client.Get(t.Context(), client.ObjectKeyFromObject(of), u)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return u
}

// ofShop returns the Cluster team-a/shop.
func ofShop() *object {
	u := fixture.Named("shop")[0]
	u.SetNamespace("team-a")
	return u
}

// Workload clusters come back in all namespaces. Unless the backup's signature was checked, Flux does nothing with what
// is in it.
func TestWorkloadClustersAreRestored(t *testing.T) {
	for name, verified := range map[string]bool{"unsigned": false, "verified": true} {
		t.Run(name, func(t *testing.T) {
			r := newWorkloads(t)
			r.Verified = verified
			result, err := restore.Run(t.Context(), r.Input)
			must(t, err)
			if result.Already || len(result.Clusters) != 3 || len(result.Releases) != 4 {
				t.Errorf("%+v", result)
			}
			said := strings.Join(result.Warnings, "\n")
			if strings.Contains(said, "HelmRelease team-a/shop is suspended") == verified {
				t.Errorf("it warns of %s", said)
			}
			checkSuspended(t, result.Suspended, verified)
			for _, want := range shopRelease() {
				got := r.read(t, want)
				if got == nil {
					t.Fatalf("%s is missing", capi.ObjectOf(want))
				}
				suspended, _, _ := unstructured.NestedBool(got.Object, "spec", "suspend")
				if flux := want.GroupVersionKind().Group != ""; suspended != (flux && !verified) {
					t.Errorf("%s is suspended: %t", capi.ObjectOf(want), suspended)
				}
				if got.GetLabels()["cluster-init.io/workload"] != "shop" || len(got.GetFinalizers()) > 0 ||
					got.GetAnnotations()["reconcile.fluxcd.io/forceAt"] != "" {
					t.Errorf("%s has %v", capi.ObjectOf(want), got.Object["metadata"])
				}
			}
			if cluster := r.read(t, ofShop()); cluster.GetAnnotations()["cluster.x-k8s.io/paused"] != "" {
				t.Error("the workload cluster is paused")
			}
			again, err := restore.Run(t.Context(), r.Input)
			if err != nil || !again.Already || len(again.Releases) > 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
			checkSuspended(t, again.Suspended, verified)
			a, err := restore.Adopt(t.Context(), r.Target, r.Backup)
			if err != nil || len(a.Unmet) != 9 || len(a.Made)+len(a.Gone) > 0 {
				t.Errorf("adoption: %+v, %v", a, err)
			}
		})
	}
}

// failing fails the first write of an object with a name.
func failing(c client.Client, name string, create bool) client.Client {
	failed := false
	fails := func(got string) error {
		if got != name || failed {
			return nil
		}
		failed = true
		return errors.New("cut")
	}
	return interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration,
			opts ...client.ApplyOption) error {
			if named, is := o.(interface{ GetName() string }); is && !create {
				if err := fails(named.GetName()); err != nil {
					return err
				}
			}
			return c.Apply(ctx, o, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if create && len(opts) == 0 {
				if err := fails(o.GetName()); err != nil {
					return err
				}
			}
			return c.Create(ctx, o, opts...)
		},
	})
}

// A restore that was interrupted resumes: values, then Clusters, then the release, each once.
func TestARestoreOfWorkloadClustersThatIsCut(t *testing.T) {
	for name, tc := range map[string]struct {
		at             string
		create         bool
		clusters, acts bool // what exists after the cut
	}{
		"before a Secret with values":   {"shop-secrets", false, false, false},
		"before the workload's machine": {"shop-md-1-b", true, true, false},
		"before the source":             {"shop-chart", false, true, false},
		"before the release":            {"shop", false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWorkloads(t)
			r.Target.Client = failing(r.Target.Client, tc.at, tc.create)
			_, err := restore.Run(t.Context(), r.Input)
			if fault.CodeOf(err) != fault.RestoreFailed || !fault.CanRetry(err) {
				t.Fatalf("it was not cut: %v", err)
			}
			release := shopRelease()[0]
			if got := r.read(t, ofShop()) != nil; got != tc.clusters {
				t.Errorf("the Cluster exists: %t", got)
			}
			if r.read(t, release) != nil {
				t.Error("the release exists")
			}
			result, err := restore.Run(t.Context(), r.Input)
			if err != nil || result.Already || r.read(t, release) == nil {
				t.Errorf("again: %+v, %v", result, err)
			}
			if again, err := restore.Run(t.Context(), r.Input); err != nil || !again.Already {
				t.Errorf("once more: %+v, %v", again, err)
			}
		})
	}
}

// Nothing is written while something else has a name, or while the former management cluster may act.
func TestWhatKeepsWorkloadClustersFromARestore(t *testing.T) {
	const other = "the target is not empty: "
	create := func(u *object) func(*testing.T, *restoring) {
		return func(t *testing.T, r *restoring) { must(t, r.Target.Client.Create(t.Context(), u)) }
	}
	changed := func(which int, edit func(*object)) *object {
		u := shopRelease()[which]
		edit(u)
		return u
	}
	ofOther := func(u *object) { u.SetLabels(map[string]string{"cluster-init.io/workload": "other"}) }
	former := func(suspended bool) func(*testing.T, *restoring) {
		return func(t *testing.T, r *restoring) {
			r.old = oldCluster(t, nil)
			release := named(fixture.ReleaseKind, "shop", map[string]any{"spec": map[string]any{
				"suspend": suspended}})
			component := named(fixture.KustomizationKind, "shop-cluster", map[string]any{"spec": map[string]any{}})
			component.SetLabels(map[string]string{"cluster-init.io/component": "cluster",
				"helm.toolkit.fluxcd.io/name": "shop", "helm.toolkit.fluxcd.io/namespace": "team-a"})
			cni := component.DeepCopy()
			cni.SetName("shop-cni")
			cni.SetLabels(map[string]string{"cluster-init.io/component": "cni",
				"helm.toolkit.fluxcd.io/name": "shop", "helm.toolkit.fluxcd.io/namespace": "team-a"})
			for _, u := range []*object{release, component, cni} {
				must(t, r.old.Create(t.Context(), u))
			}
		}
	}
	for name, tc := range map[string]struct {
		world func(*testing.T, *restoring)
		code  fault.Code
		want  string
		hint  string
	}{
		"a release of that name": {create(shopRelease()[0]), fault.RestoreRefused,
			other + "HelmRelease team-a/shop exists", "delete the object there"},
		"a source of that name": {create(shopRelease()[1]), fault.RestoreRefused,
			other + "OCIRepository team-a/shop-chart exists", ""},
		"other values": {create(changed(2, func(u *object) { u.Object["data"] = map[string]any{"values.yaml": "a: 2"} })),
			fault.RestoreRefused, other + "ConfigMap team-a/shop-values has another data", ""},
		"a Secret of another owner": {create(changed(3, ofOther)), fault.RestoreRefused,
			other + "Secret team-a/shop-secrets has another label", ""},
		"a Cluster of that name": {create(ofShop()), fault.RestoreRefused, other + "Cluster team-a/shop is active", ""},
		"the namespace of a provider": {func(t *testing.T, r *restoring) {
			u := &object{}
			u.SetGroupVersionKind(core("Namespace"))
			u.SetName("team-a")
			u.SetLabels(map[string]string{"cluster.x-k8s.io/provider": "cluster-api"})
			must(t, r.Target.Client.Create(t.Context(), u))
		}, fault.RestoreRefused, "Namespace team-a belongs to a provider on the target", ""},
		"no Flux": {func(t *testing.T, r *restoring) { r.Target.Client = target().client(t) }, fault.RestoreRefused,
			"HelmRelease.helm.toolkit.fluxcd.io: the target does not have this kind", "cluster-init up"},
		"the former manager holds a workload cluster only": {func(t *testing.T, r *restoring) {
			r.old = oldCluster(t, nil)
			must(t, fixture.Create(t.Context(), r.old, "team-b", fixture.Named("legacy")[:1]))
		}, fault.RestoreRefused, "still holds Cluster team-b/legacy (active)", "--force does not change this"},
		"the release of the former manager is active": {former(false), fault.RestoreRefused,
			"again: helmrelease shop in namespace team-a, kustomization shop-cluster in namespace team-a",
			"kubectl -n team-a patch helmrelease shop --type merge"},
		"a Kustomization of it is": {former(true), fault.RestoreRefused,
			"again: kustomization shop-cluster in namespace team-a", "kubectl -n team-a patch kustomization"},
		"a manifest that hides a Cluster": {func(_ *testing.T, r *restoring) {
			r.Backup.Manifest.Workloads[1].Cluster = "another"
		}, fault.BackupInvalid, "does not list Cluster team-b/legacy", ""},
		"a manifest that lists one too many": {func(_ *testing.T, r *restoring) {
			r.Backup.Manifest.Workloads[1].Cluster = "another"
		}, fault.BackupInvalid, "lists Cluster team-b/another, but the backup does not hold it", ""},
		"a release that the manifest does not list": {func(_ *testing.T, r *restoring) {
			r.Backup.Manifest.Workloads[0].Release = false
		}, fault.BackupInvalid, "HelmRelease team-a/shop in workload/ belongs to no release", "--verify-key"},
		"a release that is not there": {func(_ *testing.T, r *restoring) {
			r.Backup.Manifest.Workloads[1].Release = true
		}, fault.BackupInvalid, "the release of workload cluster team-b/legacy is incomplete", ""},
		"rights in the folder of releases": {func(t *testing.T, r *restoring) {
			r.forge(t, backup.Workload, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "")
		}, fault.BackupInvalid, "ClusterRoleBinding evil in workload/ is of a kind that no release has", ""},
		"values of something else": {func(t *testing.T, r *restoring) {
			r.forge(t, backup.Workload, "v1", "ConfigMap", "kube-system")
		}, fault.BackupInvalid, "ConfigMap kube-system/evil in workload/ belongs to no release", ""},
		"a Secret in the namespace of a cluster without a release": {func(t *testing.T, r *restoring) {
			r.forge(t, backup.Workload, "v1", "Secret", "team-b")
		}, fault.BackupInvalid, "Secret team-b/evil in workload/ belongs to no release", ""},
		"a Secret of the components is another one": {func(t *testing.T, r *restoring) {
			r.backUpWorkloads(t, gitLogin())
			other := gitLogin()
			other.Object["data"] = map[string]any{"password": "b3RoZXI="}
			must(t, r.Target.Client.Create(t.Context(), other))
		}, fault.RestoreRefused, other + "Secret team-a/git-login has another data", ""},
		"an object in a namespace of no cluster": {func(t *testing.T, r *restoring) {
			r.forge(t, backup.Objects, "v1", "Secret", "team-c")
		}, fault.BackupInvalid, "Secret team-c/evil in objects/ is in another namespace", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWorkloads(t)
			tc.world(t, r)
			_, err := restore.Run(t.Context(), r.Input)
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.want) ||
				!strings.Contains(fault.HintOf(err), tc.hint) {
				t.Errorf("got %v, with hint\n%s", err, fault.HintOf(err))
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it shows a secret: %v", err)
			}
			var all unstructured.UnstructuredList
			all.SetGroupVersionKind(core("SecretList"))
			must(t, r.Target.Client.List(t.Context(), &all, client.InNamespace("management")))
			if r.made > 0 || len(all.Items) > 0 {
				t.Errorf("%d objects and %d Secrets were created", r.made, len(all.Items))
			}
		})
	}
}
