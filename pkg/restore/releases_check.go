package restore

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// releaseGroup is the API group of Flux's releases.
const releaseGroup = "helm.toolkit.fluxcd.io"

// unexpectedReleases refuses what no backup has in the folder workload/: anything but the release of each cluster that
// the manifest lists with one, what that release names, and Secrets and ConfigMaps of its namespace. The components
// that name the latter are not in a backup.
func (input Input) unexpectedReleases(ctx context.Context) error {
	var wrong []error
	refuse := func(format string, args ...any) {
		wrong = append(wrong, fault.New(fault.BackupInvalid, oneline.Sprintf(format, args...),
			"Use a backup that you trust: backup --sign-key FILE signs it, and restore --verify-key KEY checks "+
				"the signature."))
	}
	named, namespaces := map[capi.Key]bool{}, map[string]bool{}
	for _, w := range input.Backup.Manifest.Workloads {
		if !w.Release {
			continue
		}
		namespaces[w.Namespace] = true
		inputs, err := rollout.InputsOf(ctx, sectionReader{input.Backup.Section(backup.Workload)},
			client.ObjectKey{Namespace: w.Namespace, Name: w.Cluster})
		if err != nil {
			refuse("the release of workload cluster %s is incomplete in workload/: %v", w, err)
			continue
		}
		if inputs[0].GetLabels()[owned.WorkloadLabel] != w.Cluster {
			refuse("%s in workload/ does not belong to a workload cluster", capi.ObjectOf(inputs[0]))
		}
		for _, u := range inputs {
			named[capi.ObjectOf(u).Key()] = true
		}
	}
	for _, u := range input.Backup.Section(backup.Workload) {
		switch o := capi.ObjectOf(u); {
		case !slices.Contains(releaseKinds(), o.Key().GroupKind):
			refuse("%s in workload/ is of a kind that no release has", o)
		case !named[o.Key()] && (acts(u) || !namespaces[o.Namespace]):
			refuse("%s in workload/ belongs to no release that the manifest lists", o)
		}
	}
	return fault.Join(wrong...)
}

// releaseKinds are the kinds of a release of a workload cluster and of its inputs.
func releaseKinds() []schema.GroupKind {
	const sources = "source.toolkit.fluxcd.io"
	return []schema.GroupKind{{Group: releaseGroup, Kind: "HelmRelease"}, {Group: sources, Kind: "GitRepository"},
		{Group: sources, Kind: "OCIRepository"}, {Kind: "ConfigMap"}, {Kind: "Secret"}}
}

// sectionReader reads objects of a section of a backup.
type sectionReader struct{ objects []*unstructured.Unstructured }

// Get finds an object by its kind, namespace and name.
func (s sectionReader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	u, isUnstructured := into.(*unstructured.Unstructured)
	if !isUnstructured {
		return errors.ErrUnsupported
	}
	kind := u.GroupVersionKind().GroupKind()
	for _, o := range s.objects {
		if o.GroupVersionKind().GroupKind() == kind && client.ObjectKeyFromObject(o) == key {
			u.Object = o.DeepCopy().Object
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
}

// List is not supported.
func (sectionReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.ErrUnsupported
}
