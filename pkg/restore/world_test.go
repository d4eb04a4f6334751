package restore_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// restoring is a restore over fake clusters.
type restoring struct {
	restore.Input
	old   client.Client // the cluster that the backup is of; nil: it does not answer
	asked int           // how often that was asked
	made  int           // objects that were created in place of clusterctl

	release *object // of team-a/shop in the backup, in place of the usual one

	more   []inNamespaceOf // what the cluster that is backed up has besides
	extent pivot.Extent    // of the backup
}

// inNamespaceOf are objects of a namespace.
type inNamespaceOf struct {
	namespace string
	objects   []*unstructured.Unstructured
}

const oldKubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":"https://192.0.2.1","certificate-authority-data":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIyeGsKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="}}],
"users":[{"name":"u","user":{"token":"hunter2"}}]}`

// oldAuthority is the authority in oldKubeconfig.
const oldAuthority = "-----BEGIN CERTIFICATE-----\nb2xk\n-----END CERTIFICATE-----\n"

// newRestoring has a backup of a cluster that is lost, and an empty target. The credentials have no label: they are a
// reference.
func newRestoring(t *testing.T, edits ...fixture.Edit) *restoring {
	t.Helper()
	r := &restoring{}
	r.backUp(t, edits...)
	r.Target = clusters.Side{Client: target().client(t), Kubeconfig: "/tmp/target.kubeconfig"}
	r.Restore = func(ctx context.Context, in capi.RestoreInput) error { return r.createByHand(ctx, in.Objects) }
	r.Former = []restore.Former{{Path: "/state/kubeconfig",
		Content: []byte(strings.Replace(oldKubeconfig, "hunter2", "another-token", 1))}}
	r.Ask = func([]byte) (client.Client, string, error) {
		r.asked++
		if r.old == nil {
			return nil, "", context.DeadlineExceeded
		}
		return r.old, "https://192.0.2.1", nil
	}
	return r
}

func (r *restoring) backUp(t *testing.T, edits ...fixture.Edit) {
	t.Helper()
	k := pivot.Keeper{Dir: t.TempDir(), Version: "v1",
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
	edits = append([]fixture.Edit{
		fixture.Unset("Secret", "mgmt-kubeconfig", "stringData"),
		fixture.Set("Secret", "mgmt-kubeconfig", base64.StdEncoding.EncodeToString([]byte(oldKubeconfig)), "data",
			"value"),
		fixture.Unset("Secret", "cloud-credentials", "metadata", "labels"),
	}, edits...)
	from := source(edits...).client(t)
	for _, more := range r.more {
		must(t, fixture.Create(t.Context(), from, more.namespace, more.objects))
	}
	kept, err := k.Keep(t.Context(), clusters.Side{Client: from}, scope, r.extent)
	must(t, err)
	r.Path = kept.Path
	r.Backup, err = backup.Open(r.Path, backup.Identities{})
	must(t, err)
}

// createByHand stands for clusterctl: what is there stays, owners get their new UIDs, and Clusters are resumed by their
// spec alone.
func (r *restoring) createByHand(ctx context.Context, objects []*unstructured.Unstructured) error {
	uids := map[types.UID]types.UID{}
	for len(uids) < len(objects) {
		for _, u := range objects {
			old := u.GetUID()
			if uids[old] != "" || slices.ContainsFunc(u.GetOwnerReferences(),
				func(o ownerReference) bool { return uids[o.UID] == "" }) {
				continue
			}
			u = u.DeepCopy()
			refs := u.GetOwnerReferences()
			for i := range refs {
				refs[i].UID = uids[refs[i].UID]
			}
			u.SetOwnerReferences(refs)
			u.SetUID("new-" + old)
			u.SetResourceVersion("")
			if err := r.Target.Client.Create(ctx, u); err == nil {
				r.made++
			} else if client.IgnoreAlreadyExists(err) != nil {
				return err
			}
			uids[old] = "new-" + old
		}
	}
	for _, u := range objects {
		if u.GetKind() == "Cluster" {
			if err := r.Target.Client.Patch(ctx, u.DeepCopy(),
				client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":null}}`))); err != nil {
				return err
			}
		}
	}
	return nil
}

// get reads an object of the target.
func (r *restoring) get(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	u := inNamespace(fixture.One(kind, name)[0])
	must(t, r.Target.Client.Get(t.Context(), client.ObjectKeyFromObject(u), u))
	return u
}

func (r *restoring) patch(t *testing.T, kind, name, patch string) {
	t.Helper()
	must(t, r.Target.Client.Patch(t.Context(), inNamespace(fixture.One(kind, name)[0]),
		client.RawPatch(types.MergePatchType, []byte(patch))))
}

// oldCluster returns the answering cluster that was backed up; with Flux if suspended says which of its objects are
// suspended.
func oldCluster(t *testing.T, objects []*unstructured.Unstructured, suspended ...bool) client.Client {
	t.Helper()
	crds := []*apiextensionsv1.CustomResourceDefinition{fixture.CRDOf(fixture.ReleaseKind),
		fixture.CRDOf(fixture.KustomizationKind)}
	c, err := fixture.FakeClient(crds)
	must(t, err)
	must(t, fixture.Create(t.Context(), c, fixture.Namespace, objects))
	for i, is := range suspended {
		must(t, c.Create(t.Context(), fixture.FluxObject(i, is)))
	}
	return c
}

// movedOut suspends Flux in the old cluster as a move of the definition out of it does.
func movedOut(t *testing.T, c client.Client) client.Client {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, owned.SuspendedAnnotation,
		owned.SuspendedFor(scope.Namespace, scope.Cluster))
	must(t, c.Patch(t.Context(), fixture.FluxObject(0, true), client.RawPatch(types.MergePatchType, []byte(patch))))
	return c
}

// forge writes the backup again with one more object, evil, which belongs to the Cluster: its manifest fits.
func (r *restoring) forge(t *testing.T, in backup.Section, apiVersion, kind, namespace string) {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName("evil")
	u.SetUID("forged")
	if in == backup.Objects {
		u.SetOwnerReferences([]ownerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "mgmt",
			UID: "Cluster-mgmt"}})
	}
	c := backup.Content{Manifest: r.Backup.Manifest, Sections: map[backup.Section][]*unstructured.Unstructured{}}
	for _, section := range []backup.Section{backup.Objects, backup.References, backup.Workload} {
		c.Sections[section] = slices.Clone(r.Backup.Section(section))
	}
	c.Sections[in] = append(c.Sections[in], u)
	staged, err := backup.Stage(t.TempDir(), c, backup.Recipients{}, backup.Signer{})
	must(t, err)
	must(t, staged.Publish())
	r.Path = staged.Path
	r.Backup, err = backup.Open(staged.Path, backup.Identities{})
	must(t, err)
}
