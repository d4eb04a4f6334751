package cli

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// joinMirrors returns the user's mirrors and, for hosts that they do not name, the bundle's. With a bundle no image
// comes from its original registry, only from mirrors.
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

// machineMirrors returns mirrors in the form of the machines' definition.
func machineMirrors(mirrors []oci.Mirror) []environment.RegistryMirror {
	var list []environment.RegistryMirror
	for _, m := range mirrors {
		list = append(list, environment.RegistryMirror{Host: m.Host, URL: m.URL, OverridePath: m.OverridePath,
			Only: m.Only})
	}
	return list
}

// withBundle returns the mirrors of a run with a bundle: the user's, and those to its registry for other hosts.
func withBundle(users []oci.Mirror, opened *bundle.Bundle, cluster string) ([]oci.Mirror, error) {
	of, err := oci.BundleMirrors(registry.Host(cluster), opened.References(bundle.LoadRegistry))
	if err != nil {
		return nil, err
	}
	return joinMirrors(users, of), nil
}
