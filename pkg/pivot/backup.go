package pivot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// Keeper defines how backups are kept.
type Keeper struct {
	Dir        string            // each backup is a new folder, or file, in it
	Recipients backup.Recipients // empty means no encryption
	Signer     backup.Signer     // without a key, backups are not signed
	Version    string            // of cluster-init
	Now        func() time.Time
	Waiting    func(string) // what a backup waits for; nil drops it
}

// keepPlanned backs up what a plan moves, and writes and returns the record next to the backup. It does not change the
// source. clusterctl's own backup pauses the source and may fail to resume it.
func (k Keeper) keepPlanned(ctx context.Context, source clusters.Side, plan Plan) (*record.Record, error) {
	r, err := k.planned(ctx, source, plan)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("back up the %d objects that would be moved: %w", len(plan.Objects), err),
			fault.PivotFailed, "Nothing was moved. Check that "+k.Dir+
				" can be written, and run the same command again.")
	}
	return r, nil
}

func (k Keeper) planned(ctx context.Context, source clusters.Side, plan Plan) (*record.Record, error) {
	graph, err := capi.Discover(ctx, source.Client, plan.Scope.Namespace) // read again, because the guards took a while
	if err != nil {
		return nil, err
	}
	staged, err := k.stage(ctx, source, plan.Scope, graph, plan.Objects, Extent{})
	if err != nil {
		return nil, err
	}
	r, err := record.New(staged.Path, staged.Manifest, graph, plan.Objects, generation(graph, plan))
	if err == nil {
		err = r.Write() // before the backup gets its name, so that no backup without a record counts as verified
	}
	if err == nil {
		err = staged.Publish()
	}
	if err != nil {
		return nil, errors.Join(err, staged.Discard(), record.Remove(staged.Path))
	}
	return r, nil
}

// generation returns the generation of the management cluster's own Cluster.
func generation(graph *capi.Graph, plan Plan) int64 {
	for _, o := range plan.Objects {
		if plan.Scope.IsOwnCluster(o) {
			u, _ := graph.Get(o)
			return u.GetGeneration()
		}
	}
	return 0
}

// stage writes and checks a backup. The backup gets its final name later.
func (k Keeper) stage(ctx context.Context, side clusters.Side, scope clusters.Scope, graph *capi.Graph,
	moves []capi.Object, more Extent) (*backup.Staged, error) {
	c := backup.Content{
		Manifest: backup.Manifest{Created: k.Now(), CreatedBy: k.Version, Namespace: scope.Namespace,
			Cluster: scope.Cluster, Workloads: more.Workloads, Etcd: more.Etcd},
		Snapshot: more.Snapshot,
		Sections: map[backup.Section][]*unstructured.Unstructured{backup.Environment: more.Environment},
	}
	for _, o := range moves {
		u, there := graph.Get(o)
		if !there {
			return nil, fmt.Errorf("%s is not there any more", o)
		}
		if scope.IsOwnCluster(o) {
			c.Kubernetes = kubernetesVersion(graph, moves, u)
		}
		c.Sections[backup.Objects] = append(c.Sections[backup.Objects], u)
	}
	var err error
	if c.Sections[backup.References], err = graph.Referred(ctx, side.Client); err != nil {
		return nil, fmt.Errorf("read what the objects refer to: %w", err)
	}
	c.Sections[backup.Workload] = more.workload(c.Sections)
	certificate, err := capi.Authority(ctx, side.Client, client.ObjectKey{Namespace: scope.Namespace,
		Name: scope.Cluster})
	if err != nil {
		return nil, err
	}
	c.Identity = backup.IdentityOf(certificate)
	if c.Providers, err = providers(ctx, side); err != nil {
		return nil, err
	}
	return backup.Stage(k.Dir, c, k.Recipients, k.Signer)
}

func providers(ctx context.Context, side clusters.Side) ([]backup.Provider, error) {
	all, err := capi.Providers(ctx, side.Client)
	var kept []backup.Provider
	for _, p := range all {
		kept = append(kept, backup.Provider{Name: p.Name, Version: p.Version})
	}
	return kept, err
}

// kubernetesVersion returns the version of a Cluster's control plane, from its topology or its control plane object;
// empty if neither has it.
func kubernetesVersion(graph *capi.Graph, moves []capi.Object, cluster *unstructured.Unstructured) string {
	if version, _, _ := unstructured.NestedString(cluster.Object, "spec", "topology", "version"); version != "" {
		return version
	}
	kind, _, _ := unstructured.NestedString(cluster.Object, "spec", "controlPlaneRef", "kind")
	name, _, _ := unstructured.NestedString(cluster.Object, "spec", "controlPlaneRef", "name")
	for _, o := range moves {
		if o.Kind == kind && o.Name == name && o.Namespace == cluster.GetNamespace() {
			u, there := graph.Get(o)
			if !there { // stage reports it
				return ""
			}
			version, _, _ := unstructured.NestedString(u.Object, "spec", "version")
			return version
		}
	}
	return ""
}
