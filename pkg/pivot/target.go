package pivot

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Target is a management cluster that is to receive objects without a source, as in a restore.
type Target struct{ v *view }

// ReadTarget reads what the rules check of a target. objects are what it is to receive, in the namespace of the scope
// and in further ones.
func ReadTarget(ctx context.Context, target clusters.Side, scope clusters.Scope,
	objects []*unstructured.Unstructured, further ...string) (*Target, error) {
	v := &view{scope: scope, further: further, sourceSide: target, targetSide: target,
		denied: map[schema.GroupKind]bool{}}
	for _, read := range []func() error{
		func() (err error) { v.target, err = capi.Discover(ctx, target.Client, scope.Namespace); return },
		func() (err error) { v.targetProviders, err = capi.Providers(ctx, target.Client); return },
		func() (err error) { v.targetUnlabelled, err = capi.UnlabelledCRDs(ctx, target.Client); return },
	} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
	}
	v.source = capi.Assemble(objects, v.target.CRDs, append([]string{scope.Namespace}, further...)...)
	v.moves = v.source.Moves()
	return &Target{v}, nil
}

// Graph returns the objects as they would be on the target.
func (t *Target) Graph() *capi.Graph { return t.v.source }

// Left returns the objects that clusterctl would leave out: nothing among the objects owns them, or one of their
// owners does not move.
func (t *Target) Left() []capi.Object { return missing(t.v.source.All(), t.v.source.Moves()) }

// Providers returns the providers of the target.
func (t *Target) Providers() []capi.Provider { return t.v.targetProviders }

// HasClusterAPI reports whether the target has the kind Cluster.
func (t *Target) HasClusterAPI() bool {
	cluster := clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind()
	return slices.ContainsFunc(slices.Concat(t.v.target.CRDs, t.v.targetUnlabelled),
		func(c capi.CRD) bool { return c.GVK.GroupKind() == cluster })
}

// Lacks returns why clusterctl cannot create a kind on the target in this version, and what a person does; "" if it
// can. Refusals leaves out the objects of a kind that Lacks has found.
func (t *Target) Lacks(gvk schema.GroupVersionKind) (reason, hint string) {
	if gvk.Group == "" {
		return "", ""
	}
	if reason, hint = t.v.lackingKind(gvk); reason != "" {
		t.v.denied[gvk.GroupKind()] = true
	}
	return reason, hint
}

// Refusals returns what the rules about permissions and webhooks refuse. verbs are what is done to each object there.
func (t *Target) Refusals(ctx context.Context, verbs []string) ([]*Refusal, error) {
	t.v.moves = slices.DeleteFunc(slices.Clone(t.v.moves), func(o capi.Object) bool {
		return t.v.denied[o.Key().GroupKind]
	})
	refusals, err := t.v.checkSide(ctx, AtTarget, t.v.targetSide, verbs)
	if err != nil {
		return nil, err
	}
	webhooks, err := checkWebhooks(ctx, t.v)
	return append(refusals, webhooks...), err
}

func (v *view) lackingKind(gvk schema.GroupVersionKind) (reason, hint string) {
	byKind := func(c capi.CRD) bool { return c.GVK.GroupKind() == gvk.GroupKind() }
	const same = "Install the providers that the backup was made with."
	if i := slices.IndexFunc(v.target.CRDs, byKind); i >= 0 {
		// clusterctl uses the stored version of a kind
		if stored := v.target.CRDs[i].GVK.Version; stored != gvk.Version {
			return fmt.Sprintf("the target stores version %s of it, and the backup has %s", stored, gvk.Version), same
		}
		return "", ""
	}
	if i := slices.IndexFunc(v.targetUnlabelled, byKind); i >= 0 {
		return "its CRD has no label " + capi.MoveLabel + " on the target",
			v.labelCRD(v.targetSide, v.targetUnlabelled[i].Name)
	}
	return "the target does not have this kind, or its CRD has no label " + capi.MoveLabel, same
}
