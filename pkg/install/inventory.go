package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// object is an object without its content. Secrets are never read.
type object = *metav1.PartialObjectMetadata

// names are those of Kustomizations or HelmReleases.
type names map[client.ObjectKey]bool

// inventory is what `install` put into a cluster, by labels and field managers, and who else uses it.
type inventory struct {
	mark      mark
	installed bool   // the mark is that of this management cluster
	of        string // the mark of another one
	occupied  string // why a cluster without a mark is not free; empty: it is
	// removes and leaves are the Kustomizations of the release by what becomes of their objects. They include those
	// that a killed uninstall has removed.
	removes, leaves names
	kustomizations  []kustomizev1.Kustomization
	applied         []object // by any Kustomization of Flux
	charts          names    // HelmReleases that components have applied
	charted         []object // made by those
	release         []object // made by Helm for the release, other than Kustomizations
	inputs          []object // applied by install in Flux's namespace
	flux            []object // applied by install as Flux
	workload        []string // workload clusters
	dependents      []dependent
	fluxUsers       []string // other objects of Flux
	orphans         []object // applied by Kustomizations that the release no longer has
	byHelm          []string // namespaces that Helm created for charts
	// inhabited are namespaces of the release in which others have something, and what
	inhabited map[string]string
	served    []kube.Served
}

const (
	appliedByName      = "kustomize.toolkit.fluxcd.io/name"
	appliedByNamespace = "kustomize.toolkit.fluxcd.io/namespace"
	partOf             = "app.kubernetes.io/part-of"
)

// applier returns the Kustomization that applied an object, by its labels.
func applier(o metav1.Object) client.ObjectKey {
	labels := o.GetLabels()
	return client.ObjectKey{Namespace: labels[appliedByNamespace], Name: labels[appliedByName]}
}

// ownRelease is the HelmRelease of install.
func ownRelease() client.ObjectKey {
	return client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName}
}

// inventory observes the cluster. It changes nothing, and fails if anything is not known.
func (r *Removal) inventory(ctx context.Context) (inventory, error) {
	found := inventory{inhabited: map[string]string{}}
	var err error
	if found.served, err = r.cluster.Served(ctx); err != nil {
		return found, fmt.Errorf("list the kinds that the cluster serves: %w", err)
	}
	if found.mark, err = readMark(ctx, r.cluster); err != nil {
		return found, err
	}
	if found.removes, found.leaves, found.charts, err = found.mark.removal(); err != nil {
		return found, err
	}
	list, err := flux.Kustomizations(ctx, r.cluster)
	if err != nil && !kube.NotServed(err) {
		return found, err
	}
	exist := names{}
	for _, k := range list {
		key := client.ObjectKeyFromObject(&k)
		exist[key] = true
		if rollout.Made(ownRelease(), &k) {
			found.kustomizations = append(found.kustomizations, k)
			found.removes[key], found.leaves[key] = !stays(k), stays(k)
		}
	}
	if found.applied, err = r.list(ctx, found.served, client.HasLabels{appliedByName}); err != nil {
		return found, err
	}
	for _, o := range found.applied {
		by := applier(o)
		if by.Namespace == flux.Namespace && !exist[by] && !found.removes[by] && !found.leaves[by] && !isCopy(o) {
			found.orphans = append(found.orphans, o)
		}
	}
	if err := r.readCharts(ctx, &found); err != nil {
		return found, err
	}
	parts, err := r.list(ctx, found.served, client.MatchingLabels{partOf: "flux"})
	if err != nil {
		return found, err
	}
	for _, o := range parts {
		if appliedByUs(o) {
			found.flux = append(found.flux, o)
		}
	}
	if found.inputs, err = r.inputs(ctx, found.served); err != nil {
		return found, err
	}
	if err := r.readOwner(ctx, &found); err != nil {
		return found, err
	}
	return found, r.readOthers(ctx, &found)
}

// readCharts reads what Helm made for the release, and for charts of components.
func (r *Removal) readCharts(ctx context.Context, found *inventory) error {
	for _, o := range found.remaining() {
		if isHelmRelease(o) && !isCopy(o) {
			found.charts[client.ObjectKeyFromObject(o)] = true
		}
	}
	all, err := r.list(ctx, found.served, client.HasLabels{helmv2.GroupVersion.Group + "/name"})
	for _, o := range all {
		group := o.GroupVersionKind().Group
		switch {
		case found.charts[chartOf(o)]:
			found.charted = append(found.charted, o)
		case rollout.Made(ownRelease(), o) && o.Kind != kustomizev1.KustomizationKind &&
			(group == "" || strings.HasSuffix(group, ".fluxcd.io")):
			found.release = append(found.release, o)
		}
	}
	return err
}

// inputs returns what install applied for the release, and the Secrets in which Helm keeps it. The Secrets of Flux's
// Pods, and the mark, are not part of it.
func (r *Removal) inputs(ctx context.Context, served []kube.Served) ([]object, error) {
	all, err := r.list(ctx, slices.DeleteFunc(kube.InGroups(served, "", "fluxcd.io"), func(s kube.Served) bool {
		return !s.Namespaced || s.Resource.Group == "" && s.Kind != "Secret" && s.Kind != "ConfigMap"
	}), client.InNamespace(flux.Namespace))
	return slices.DeleteFunc(all, func(o object) bool {
		labels := o.GetLabels()
		ofHelm := o.Kind == "Secret" && labels["owner"] == "helm" && labels["name"] == flux.ReleaseName
		isMark := o.Kind == "ConfigMap" && o.Name == environment.ValuesName
		return isMark || isOfFluxPods(o) || !ofHelm && !appliedByUs(o) || labels[partOf] == "flux"
	}), err
}

// isOfFluxPods reports whether Flux's own Pods read a Secret.
func isOfFluxPods(o object) bool {
	return o.Kind == "Secret" && slices.Contains(flux.PodSecrets(), o.Name)
}

// list returns the objects of these kinds. A kind whose definition has gone has none.
func (r *Removal) list(ctx context.Context, kinds []kube.Served, options ...client.ListOption) ([]object, error) {
	var all []object
	for _, kind := range kinds {
		if slices.Contains([]string{"componentstatuses", "events"}, kind.Resource.Resource) {
			continue
		}
		gvk := kind.Resource.GroupVersion().WithKind(kind.Kind)
		list := metadataList(gvk)
		err := r.cluster.List(ctx, list, options...)
		switch {
		case apierrors.IsNotFound(err), apimeta.IsNoMatchError(err), apierrors.IsMethodNotSupported(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("list %s: %w", kind.Resource.GroupResource(), err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			o.SetGroupVersionKind(gvk)
			all = append(all, o)
		}
	}
	return all, nil
}

// remaining returns what the Kustomizations of the release have applied, without what stays.
func (i inventory) remaining() []object {
	return slices.DeleteFunc(slices.Clone(i.applied), func(o object) bool { return !i.removes[applier(o)] })
}

// lost returns what goes, and what keeps keeps of it.
func (i inventory) lost() []object {
	lost := slices.Concat(i.remaining(), i.charted, i.release)
	if !i.fluxIsUsed() {
		lost = append(lost, i.flux...)
	}
	return lost
}

// isOurs reports whether install made an object, or something that install made did.
func (i inventory) isOurs(o object) bool {
	by := applier(o)
	return !isCopy(o) && (i.removes[by] || i.leaves[by] || i.charts[chartOf(o)] || rollout.Made(ownRelease(), o)) ||
		appliedByUs(o) && (o.GetNamespace() == flux.Namespace || o.GetLabels()[partOf] == "flux")
}

// keeps reports whether an object stays although it has the labels of what goes: a namespace that every cluster has, or
// that is of others too, copies, and what Helm leaves.
func (i inventory) keeps(o object) bool {
	return i.leaves[applier(o)] || isCopy(o) || i.charts[chartOf(o)] && isLeftByHelm(o) ||
		o.Kind == "Namespace" && (isSystem(o.Name) || i.shared(o) != "")
}

// stays reports whether the objects of a Kustomization stay: the network of pods, the cloud controller and volumes are
// never removed from nodes that use them, and objects in another cluster are not removed from here.
func stays(k kustomizev1.Kustomization) bool {
	return k.Spec.KubeConfig != nil || !k.Spec.Prune && k.Labels[owned.ComponentLabel] != ""
}

func (i inventory) fluxIsUsed() bool { return len(i.fluxUsers) > 0 }

// called names an object for people.
func called(o object) string {
	if o.GetNamespace() == "" {
		return o.Kind + " " + o.GetName()
	}
	return o.Kind + " " + o.GetNamespace() + "/" + o.GetName()
}

func abbreviated(objects []object) string {
	var all []string
	for _, o := range objects {
		all = append(all, called(o))
	}
	slices.Sort(all)
	return abbreviatedNames(all)
}

// abbreviatedNames joins the first names, and counts the rest.
func abbreviatedNames(all []string) string {
	const most = 5
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}
