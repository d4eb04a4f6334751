package offline

import (
	"slices"

	"github.com/cluster-init/cluster-init/e2e/lab/debian"
	"github.com/cluster-init/cluster-init/e2e/lab/node"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
)

// baseSystem is the one root file system below all images that need Debian: each of its own would take a minute during
// the compiler, and registries and engines keep one layer once. What Debian starts at boot is left out of images, see
// node.Unwanted.
func baseSystem() debian.Rootfs {
	packages := slices.Concat(node.Packages, balancerPackages)
	for _, image := range plan.NodeImages() {
		packages = append(packages, image.Debian...)
	}
	slices.Sort(packages)
	return debian.Rootfs{Name: "base", Packages: slices.Compact(packages)}
}

// serverSystem is the root file system that the packages of OpenStack's servers are taken from.
func serverSystem() debian.Rootfs {
	return debian.Rootfs{Name: "server", Packages: append(baseSystem().Packages, node.CloudInitPackages...)}
}
