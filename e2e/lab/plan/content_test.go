package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
)

// What the components name must be what the lab builds: the bundle holds nothing else.
func TestComponentsNameTheVersionsOfTheModules(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for file, wants := range map[string]struct {
		module golang.Module
		before string
	}{
		"cert-manager/kustomization.yaml": {golang.Module{Name: CertManagerModule, Path: CertManagerPath},
			"/cert-manager/releases/download/"},
		"capo/kustomization.yaml": {golang.Module{Name: CAPOModule, Path: CAPOPath},
			"/cluster-api-provider-openstack/releases/download/"},
		"orc/kustomization.yaml": {golang.Module{Name: ORCModule, Path: ORCPath},
			"/openstack-resource-controller/releases/download/"},
		"cloud-provider/capo/daemonset.yaml": {golang.Module{Name: CPOModule, Path: CPOPath}, CloudImage + ":"},
		"cinder-csi/controller.yaml":         {golang.Module{Name: CPOModule, Path: CPOPath}, CinderImage + ":"},
		"cinder-csi/node.yaml":               {golang.Module{Name: CPOModule, Path: CPOPath}, CinderImage + ":"},
	} {
		content, err := os.ReadFile(filepath.Join(root, "kustomize-components", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		pin, err := wants.module.Pin(root)
		if err != nil {
			t.Fatal(err)
		}
		_, after, found := strings.Cut(string(content), wants.before)
		if version := strings.FieldsFunc(after, func(r rune) bool { return r == '/' || r == '\n' }); !found ||
			version[0] != pin.Version {
			t.Errorf("%s does not name %s%s", file, wants.before, pin.Version)
		}
	}
}
