package cli

import (
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// applyOptions are those flags of up that change the applied values, for commands that compare with these.
type applyOptions struct {
	bundle  string
	mirrors []string
}

func (o *applyOptions) flags(f *pflag.FlagSet, bundleUsage string) {
	f.StringVar(&o.bundle, "bundle", "", bundleUsage)
	f.StringArrayVar(&o.mirrors, "registry-mirror", nil, "HOST=URL: pull images of HOST from URL instead (repeatable)")
}

// of returns the environment as up with these flags applies it, and the bundle. Without --bundle the bundle is nil.
func (o *applyOptions) of(env *environment.Environment) (*environment.Environment, *bundle.Bundle, error) {
	mirrors, err := oci.ParseMirrors(o.mirrors)
	if err != nil {
		return nil, nil, err
	}
	opened, err := openBundle(o.bundle, env.BuiltOn())
	if err != nil {
		return nil, nil, err
	}
	if env, _, err = asApplied(env, opened, mirrors, env.ClusterName()); err == nil {
		env, err = withProgramsBeside(env)
	}
	return env, opened, err
}

// asApplied adds to the values of the environment what the bundle, which may be nil, and the mirrors need. It also
// returns the mirrors of both. management is the name of the management cluster, which the registry
// is beside.
func asApplied(env *environment.Environment, opened *bundle.Bundle, mirrors []oci.Mirror, management string) (
	*environment.Environment, []oci.Mirror, error) {
	var err error
	if opened != nil {
		// a bundle may hold another release of a component
		if env, err = env.WithOverrides(bundleValues(opened, env.KubernetesVersion())); err != nil {
			return nil, nil, err
		}
		if mirrors, err = withBundle(mirrors, opened, management); err != nil {
			return nil, nil, err
		}
	}
	env, err = env.WithRegistryMirrors(machineMirrors(mirrors), opened != nil)
	return env, mirrors, err
}
