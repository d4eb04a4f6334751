package cli

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/artifact"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// joinMirrors are the user's mirrors and, for hosts that they do not name, the bundle's. With a bundle no image is fetched from
// the original registry: what the bundle lacks comes from the user's mirrors and from nowhere else.
func joinMirrors(users, bundles []artifact.Mirror) []artifact.Mirror {
	joined := slices.Clone(users)
	for i := range joined {
		joined[i].Only = true
	}
	for _, mirror := range bundles {
		if !slices.ContainsFunc(users, func(m artifact.Mirror) bool { return m.Host == mirror.Host }) {
			joined = append(joined, mirror)
		}
	}
	return joined
}

// machineMirrors adds mirrors to those of the environment's values, so that machines pull through them as well. A host that both
// name keeps what the values say: they can say more. only: nothing is fetched from the original registries.
func machineMirrors(values []environment.RegistryMirror, mirrors []artifact.Mirror, only bool) []environment.RegistryMirror {
	joined := slices.Clone(values)
	for i := range joined {
		joined[i].Only = joined[i].Only || only
	}
	for _, m := range mirrors {
		if !slices.ContainsFunc(values, func(value environment.RegistryMirror) bool { return value.Host == m.Host }) {
			joined = append(joined, environment.RegistryMirror{Host: m.Host, URL: m.URL, OverridePath: m.OverridePath, Only: m.Only})
		}
	}
	return joined
}
