package content

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestAProfileAddsComponentsAndReplacesNone(t *testing.T) {
	const file = "kustomize-components/capi/kustomization.yaml"
	content := fstest.MapFS{file: {Data: []byte("a")}, "charts/x": {Data: []byte("b")}}
	tree, err := Components(content, map[string][]byte{"kustomize-components/own/kustomization.yaml": []byte("c")})
	if err != nil || len(tree) != 2 || string(tree["kustomize-components/own/kustomization.yaml"]) != "c" {
		t.Errorf("got %q (%v)", tree, err)
	}
	if _, err = Components(content, map[string][]byte{file: []byte("c")}); fault.CodeOf(err) != fault.BundleInvalid ||
		!strings.Contains(err.Error(), file) {
		t.Errorf("a profile that replaces a component gave %v", err)
	}
}
