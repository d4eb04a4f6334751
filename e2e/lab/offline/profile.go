package offline

import (
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// labCNI is the folder of the lab's pod network in the profile.
const labCNI = "kustomize-components/lab-cni"

// profile returns the components that clusters made from the lab's bundle have, and no others: plan.Values refer to
// them.
func profile(root string) (content.Tree, error) {
	return content.ReadTree(os.DirFS(profileFolder(root)), "kustomize-components")
}

func profileFolder(root string) string { return filepath.Join(root, "e2e", "lab", "profile") }

// networkManifest is the file of the lab's pod network.
func networkManifest(root string) string {
	return filepath.Join(profileFolder(root), filepath.FromSlash(labCNI), "lab-cni.yaml")
}
