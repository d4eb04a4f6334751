package cli

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/artifact"
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
func machineMirrors(values []map[string]any, mirrors []artifact.Mirror, only bool) []map[string]any {
	joined := slices.Clone(values)
	for i := range joined {
		if only {
			joined[i]["only"] = true
		}
	}
	for _, m := range mirrors {
		if !slices.ContainsFunc(values, func(value map[string]any) bool { return value["host"] == m.Host }) {
			joined = append(joined, map[string]any{"host": m.Host, "url": m.URL, "override_path": m.OverridePath, "only": m.Only})
		}
	}
	return joined
}
