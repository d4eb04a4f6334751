package cli

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// joinMirrors are the user's mirrors and, for hosts that they do not name, the bundle's. With a bundle no image is fetched from
// the original registry: what the bundle lacks comes from the user's mirrors and from nowhere else.
func joinMirrors(users, bundles []oci.Mirror) []oci.Mirror {
	joined := slices.Clone(users)
	for i := range joined {
		joined[i].Only = true
	}
	for _, mirror := range bundles {
		if !slices.ContainsFunc(users, func(m oci.Mirror) bool { return m.Host == mirror.Host }) {
			joined = append(joined, mirror)
		}
	}
	return joined
}

// machineMirrors are mirrors as the machines' definition has them.
func machineMirrors(mirrors []oci.Mirror) []environment.RegistryMirror {
	var list []environment.RegistryMirror
	for _, m := range mirrors {
		list = append(list, environment.RegistryMirror{Host: m.Host, URL: m.URL, OverridePath: m.OverridePath, Only: m.Only})
	}
	return list
}
