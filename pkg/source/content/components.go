package content

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const hintBundle = "Build or download the bundle again: " +
	"https://github.com/cluster-init/cluster-init/blob/main/docs/guides/bundle.md"

// Components returns kustomize-components of fsys with the files of a bundle's profile, nil for none. A profile may add
// files, but not replace any: that is a fault BundleInvalid.
func Components(fsys fs.FS, profile map[string][]byte) (Tree, error) {
	tree, err := ReadTree(fsys, componentsDir)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(profile)) {
		if _, there := tree[path]; there {
			return nil, fault.New(fault.BundleInvalid, fmt.Sprintf("the bundle's profile would replace %s", path),
				hintBundle)
		}
		tree[path] = profile[path]
	}
	return tree, nil
}
