package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// workloadDefinition are the flags that define a workload cluster.
type workloadDefinition struct {
	environmentOptions
	managed   managedBy
	applied   applyOptions
	name      string
	namespace string
	// allowChanges are the keys of the changes that may remove something from the cluster.
	allowChanges []string
}

func (o *workloadDefinition) flags(f *pflag.FlagSet, streams Streams) {
	o.environmentOptions.flags(f, streams)
	o.managed.flags(f, streams)
	o.applied.flags(f, "folder of the offline bundle of the management cluster")
	f.StringVar(&o.name, "name", "", "name of the workload cluster (default: cluster.name of the environment)")
	f.StringVar(&o.namespace, "namespace", "", "its namespace (default: cluster.namespace of the environment)")
	f.StringSliceVar(&o.allowChanges, "allow-changes", nil, "allow this change (KEY from the refusal; repeatable)")
}

// resolve checks all input. It returns the management cluster, and the workload cluster without a connection to it.
func (o *workloadDefinition) resolve(ctx context.Context, name string) (*viewed, workload.Cluster, error) {
	looking, lookErr := o.managed.find(ctx)
	env, err := o.load(ctx, name)
	if err := fault.Join(lookErr, err); err != nil {
		return nil, workload.Cluster{}, err
	}
	if env, err = o.asApplied(env, looking.Cluster); err != nil {
		return nil, workload.Cluster{}, err
	}
	if err := differs(env, looking.Identity); err != nil {
		return nil, workload.Cluster{}, err
	}
	makes, err := known.Of(env, looking.Docker)
	if err != nil {
		return nil, workload.Cluster{}, err
	}
	return looking, workload.Cluster{Environment: env, Machines: known.Ranges(env), Provider: makes,
		Self:         workload.Key{Namespace: looking.Namespace, Name: looking.Cluster},
		AllowChanges: o.allowChanges, Settled: o.known.learnOf}, nil
}

// load loads the environment as that of a workload cluster.
func (o *workloadDefinition) load(ctx context.Context, name string) (*environment.Environment, error) {
	options := o.options(name)
	options.Workload, options.Derive = true, derive
	options.Sets = append(append([]string(nil), o.sets...), namesAsSets(o.name, o.namespace)...)
	return environment.Load(ctx, options)
}

// asApplied adds what the bundle of the management cluster and the mirrors need.
func (o *workloadDefinition) asApplied(env *environment.Environment, management string) (*environment.Environment,
	error) {
	mirrors, err := oci.ParseMirrors(o.applied.mirrors)
	if err != nil {
		return nil, err
	}
	opened, err := openBundle(o.applied.bundle, env.BuiltOn())
	if err != nil {
		return nil, err
	}
	env, _, err = asApplied(env, opened, mirrors, management)
	return env, err
}
