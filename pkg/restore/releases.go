package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// releaseObject is an object of the backup's section Workload: a release of a workload cluster, or an input of one.
type releaseObject struct {
	saved    *unstructured.Unstructured
	existing *unstructured.Unstructured // on the target; nil if it does not exist
	unserved bool                       // the target does not have the kind
}

// acts reports whether Flux acts on an object: a release or a source. Until all Clusters are resumed, a restore creates
// none of these. Values and Secrets come first.
func acts(u *unstructured.Unstructured) bool { return u.GroupVersionKind().Group != "" }

// observeReleases reads what the target has of the section Workload, and which of the namespaces it may not use.
func (r *restoration) observeReleases(ctx context.Context) error {
	r.releases, r.namespaces = nil, nil
	for _, saved := range r.input.Backup.Section(backup.Workload) {
		o, kind := releaseObject{saved: saved, existing: &unstructured.Unstructured{}}, saved.GroupVersionKind()
		o.existing.SetGroupVersionKind(kind)
		_, err := r.input.Target.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err == nil {
			err = r.input.Target.Client.Get(ctx, client.ObjectKeyFromObject(saved), o.existing)
		}
		switch {
		case meta.IsNoMatchError(err):
			o.existing, o.unserved = nil, true
		case apierrors.IsNotFound(err):
			o.existing = nil
		case err != nil:
			return fmt.Errorf("read %s on the target: %w", capi.ObjectOf(saved), err)
		}
		r.releases = append(r.releases, o)
	}
	isRelease := func(o releaseObject) bool { return o.saved.GroupVersionKind().Group == releaseGroup }
	last := slices.DeleteFunc(slices.Clone(r.releases), func(o releaseObject) bool { return !isRelease(o) })
	r.releases = append(slices.DeleteFunc(r.releases, isRelease), last...)
	for _, name := range r.input.Backup.Manifest.Namespaces()[1:] {
		u := namespace(name)
		err := r.input.Target.Client.Get(ctx, client.ObjectKeyFromObject(u), u)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Namespace %s on the target: %w", name, err)
		}
		if err == nil {
			r.namespaces = append(r.namespaces, u)
		}
	}
	return r.observeAppliers(ctx)
}

// refuseReleases refuses a target on which something else has the name of a release, of one of its inputs or of a
// namespace of a provider.
func (r *restoration) refuseReleases() error {
	var wrong []error
	refuse := func(hint, format string, args ...any) {
		wrong = append(wrong, fault.New(fault.RestoreRefused, oneline.Sprintf(format, args...), hint))
	}
	const rename = "Use a management cluster that holds nothing of the backup, or delete the object there."
	for _, o := range r.releases {
		name := capi.ObjectOf(o.saved)
		switch {
		case o.unserved:
			refuse("Give the kubeconfig of a management cluster that cluster-init up has built.",
				"%s: the target does not have this kind", name.Key().GroupKind)
		case o.existing == nil:
		case acts(o.saved):
			refuse(rename, "the target is not empty: %s exists, and its Cluster is not restored yet", name)
		case o.existing.GetDeletionTimestamp() != nil:
			refuse("Wait until it is gone.", "%s is being deleted on the target", name)
		default:
			if parts := r.differs(o); len(parts) > 0 {
				refuse(rename, "the target is not empty: %s has another %s", name, strings.Join(parts, ", "))
			}
		}
	}
	for _, u := range r.namespaces {
		_, ofProvider := u.GetLabels()[clusterv1.ProviderNameLabel]
		switch {
		case u.GetDeletionTimestamp() != nil:
			refuse("Wait until it is gone.", "Namespace %s is being deleted on the target", u.GetName())
		case ofProvider:
			refuse("Use a management cluster whose providers are in other namespaces.",
				"Namespace %s belongs to a provider on the target", u.GetName())
		}
	}
	return fault.Join(wrong...)
}

func (r *restoration) differs(o releaseObject) []string {
	return r.digest.Parts(o.saved).WithoutOwners().Missing(r.digest.Parts(o.existing), controllersRun)
}

// createReleases creates what is missing of the section Workload: without acting only the namespaces, values and
// Secrets. It never overwrites.
func (r *restoration) createReleases(ctx context.Context, acting bool) (created []capi.Object, err error) {
	for _, o := range r.releases {
		if o.existing != nil || !acting && acts(o.saved) {
			continue
		}
		if err := r.ensureNamespace(ctx, o.saved.GetNamespace()); err != nil {
			return created, err
		}
		u, err := r.creatable(ctx, o.saved)
		if err != nil {
			return created, err
		}
		r.tame(u)
		// As workload apply does, which may then change it. Without force it takes no field from another owner.
		if err := r.input.Target.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u),
			client.FieldOwner(kube.FieldOwner)); err != nil {
			return created, fmt.Errorf("create %s on the target: %w", capi.ObjectOf(u), err)
		}
		created = append(created, capi.ObjectOf(u))
	}
	return created, nil
}

// ensureNamespace creates a namespace that the target lacks.
func (r *restoration) ensureNamespace(ctx context.Context, name string) error {
	exists, err := capi.NamespaceExists(ctx, r.input.Target.Client, name)
	if err == nil && !exists {
		err = client.IgnoreAlreadyExists(r.input.Target.Client.Create(ctx, namespace(name)))
	}
	if err != nil {
		return fmt.Errorf("create Namespace %s on the target: %w", name, err)
	}
	return nil
}

// finishReleases creates the releases and their sources, once all Clusters are active: a release applies to definitions
// that exist, with the values that these were made from.
func (r *restoration) finishReleases(ctx context.Context, result *Result) error {
	if len(r.releases) == 0 {
		return nil
	}
	var created []capi.Object
	err := r.observeReleases(ctx)
	if err == nil {
		if refused := r.refuseAppliers(); refused != nil { // it has come since the restore began
			return fault.Wrap(fmt.Errorf("all Clusters are active, and releases of workload clusters are missing: %w",
				refused), fault.RestoreFailed, fault.HintOf(refused)+"\nThen run the same command again.")
		}
		created, err = r.createReleases(ctx, true)
	}
	result.Releases = append(result.Releases, created...)
	if err == nil {
		err = r.observeReleases(ctx)
	}
	if err == nil {
		result.Suspended, err = r.suspended(ctx)
	}
	if err != nil {
		return interrupted(ctx, err, "All Clusters are active; releases of workload clusters may be missing.")
	}
	for _, s := range result.Suspended {
		warning := s.Release.String() + " is suspended"
		if !r.input.Verified {
			warning += ", because the signature of the backup was not checked: read the URL of each source and the " +
				"values before you resume it (docs/guides/restore.md)"
		}
		result.Warnings = append(result.Warnings, warning)
	}
	return nil
}

// tame removes what controllers have left on an object. Flux runs what a release and its sources say, as an
// administrator: unless the signature of the backup was checked, these are suspended.
func (r *restoration) tame(u *unstructured.Unstructured) {
	u.SetFinalizers(nil)
	annotations := u.GetAnnotations()
	for key := range annotations {
		if strings.HasPrefix(key, "reconcile.fluxcd.io/") {
			delete(annotations, key)
		}
	}
	u.SetAnnotations(annotations)
	if acts(u) && !r.input.Verified {
		_ = unstructured.SetNestedField(u.Object, true, "spec", "suspend") // fails only when spec is not an object
	}
}

// missingReleases reports whether the target lacks something of the section Workload.
func (r *restoration) missingReleases() bool {
	return slices.ContainsFunc(r.releases, func(o releaseObject) bool { return o.existing == nil })
}

func namespace(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	u.SetName(name)
	return u
}
