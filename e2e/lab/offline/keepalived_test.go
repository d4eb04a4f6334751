package offline

import (
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/plan"
)

// Only kubeadm's machines on OpenStack run keepalived. Its system has all that its Pod runs.
func TestOnlyBundlesForKubeadmOnOpenStackHaveKeepalived(t *testing.T) {
	for environment, want := range map[string]bool{"kubeadm-capo": true, "rke2-capo": false, "kubeadm-capd": false} {
		b := &builder{Options: Options{Environments: []string{environment, "rke2-capd"}}}
		built := false
		for _, rootfs := range b.rootfses() {
			built = built || rootfs.Name == keepalivedSystem().Name
		}
		if built != want || plan.UsesKeepalived(b.Environments) != want {
			t.Errorf("a bundle for %s: %t", environment, built)
		}
	}
	for _, program := range []string{"keepalived", "curl"} {
		if !slices.Contains(keepalivedSystem().Packages, program) {
			t.Errorf("the image has no %s", program)
		}
	}
	if slices.Contains(baseSystem().Packages, "keepalived") {
		t.Error("all images would be made again for keepalived")
	}
}
