package pivot

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// view is what the rules check, read once.
type view struct {
	scope                            clusters.Scope
	further                          []string // namespaces that a restore creates objects in, besides the scope's
	sourceSide, targetSide           clusters.Side
	source, target                   *capi.Graph
	groups                           [][]capi.Object
	moves                            []capi.Object
	stays                            []LeftBehind
	clusters                         []capi.Cluster
	others                           []capi.Cluster // of other namespaces, at the source
	fromElsewhere                    []capi.Ref     // by objects of other namespaces, at the source
	othersErr                        error          // why those may not be listed
	machines                         []capi.Machine
	sourceProviders, targetProviders []capi.Provider
	sourceInventory, targetInventory []clusterctlv1.Provider
	sourceUnlabelled                 []unlabelled
	targetUnlabelled                 []capi.CRD
	// denied are the kinds for which the user lacks a verb on the target. checkPermissions fills it.
	denied map[schema.GroupKind]bool
}

// unlabelled is a CRD without the label of clusterctl, with the objects that would be left behind.
type unlabelled struct {
	capi.CRD
	objects []capi.Object
}

func newView(ctx context.Context, source, target clusters.Side, scope clusters.Scope) (*view, error) {
	v := &view{scope: scope, sourceSide: source, targetSide: target, denied: map[schema.GroupKind]bool{}}
	var sourceErr, targetErr error
	var both sync.WaitGroup
	both.Go(func() { sourceErr = v.readSource(ctx) })
	both.Go(func() { targetErr = v.readTarget(ctx) })
	both.Wait()
	if sourceErr != nil {
		return nil, fmt.Errorf("source: %w", sourceErr)
	}
	if targetErr != nil {
		return nil, fmt.Errorf("target: %w", targetErr)
	}
	v.groups, v.moves = v.source.Groups(), v.source.Moves()
	return v, v.findLeftBehind(ctx)
}

func (v *view) readSource(ctx context.Context) (err error) {
	c, namespace := v.sourceSide.Client, v.scope.Namespace
	if v.source, err = capi.Discover(ctx, c, namespace); err != nil {
		return err
	}
	if v.clusters, err = capi.Clusters(ctx, c, namespace); err != nil {
		return err
	}
	if err := v.readOthers(ctx); err != nil {
		return err
	}
	if v.machines, err = capi.Machines(ctx, c, namespace); err != nil {
		return err
	}
	if v.sourceProviders, err = capi.Providers(ctx, c); err != nil {
		return err
	}
	if v.sourceInventory, err = capi.Inventory(ctx, c); err != nil {
		return err
	}
	return v.readUnlabelled(ctx)
}

func (v *view) readTarget(ctx context.Context) (err error) {
	c := v.targetSide.Client
	if v.target, err = capi.Discover(ctx, c, v.scope.Namespace); err != nil {
		return err
	}
	if v.targetProviders, err = capi.Providers(ctx, c); err != nil {
		return err
	}
	if v.targetInventory, err = capi.Inventory(ctx, c); err != nil {
		return err
	}
	v.targetUnlabelled, err = capi.UnlabelledCRDs(ctx, c)
	return err
}

// readOthers lists the Clusters of all other namespaces, and the references from there. It continues if listing is
// forbidden: a rule refuses because of that.
func (v *view) readOthers(ctx context.Context) error {
	all, err := capi.Clusters(ctx, v.sourceSide.Client, "")
	if apierrors.IsForbidden(err) {
		v.othersErr = err
		return nil
	}
	for _, c := range all {
		if c.Namespace != v.scope.Namespace {
			v.others = append(v.others, c)
		}
	}
	if err != nil {
		return err
	}
	v.fromElsewhere, err = v.source.FromElsewhere(ctx, v.sourceSide.Client)
	if apierrors.IsForbidden(err) {
		v.othersErr = err
		return nil
	}
	return err
}

// readUnlabelled finds the namespace's objects whose CRDs have no label. It skips CRDs of the whole cluster.
func (v *view) readUnlabelled(ctx context.Context) error {
	crds, err := capi.UnlabelledCRDs(ctx, v.sourceSide.Client)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if !crd.Namespaced {
			continue
		}
		objects, err := capi.ObjectsOf(ctx, v.sourceSide.Client, crd, v.scope.Namespace)
		if err != nil {
			return err
		}
		if len(objects) > 0 {
			v.sourceUnlabelled = append(v.sourceUnlabelled, unlabelled{crd, objects})
		}
	}
	return nil
}

// resource returns the name that kubectl uses for the kind of an object.
func (v *view) resource(o capi.Object) string {
	kind := o.Key().GroupKind
	mapping, err := v.sourceSide.Client.RESTMapper().RESTMapping(kind)
	if err != nil { // kubectl resolves the kind, or reports what it knows
		return kind.String()
	}
	return mapping.Resource.GroupResource().String()
}

// onObject returns the beginning of a command for an object of the source.
func (v *view) onObject(verb string, o capi.Object) string {
	command := "kubectl" + option("--kubeconfig", v.sourceSide.Kubeconfig)
	if o.Namespace != "" {
		command += " -n " + o.Namespace
	}
	return command + " " + verb + " " + v.resource(o) + " " + o.Name
}

// describe returns the command that shows what an object waits for.
func describe(v *view, o capi.Object) string {
	return "Wait, or see what it waits for: " + v.onObject("describe", o)
}
