package offline

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/manifest"
	"github.com/cluster-init/cluster-init/pkg/bundle"
)

func TestCheckImagesNamesWhatIsMissing(t *testing.T) {
	manifests := []rendered{{Manifest: manifest.Manifest{
		URL: "https://x/y.yaml", Content: []byte("      - image: a.io/held:v1\n      - image: a.io/missing:v1\n"),
	}}}
	parts := []part{{entry: bundle.Image{Reference: "a.io/held:v1"}}}
	err := checkImages(manifests, parts, nil)
	if err == nil || !strings.Contains(err.Error(), "a.io/missing:v1") ||
		strings.Contains(err.Error(), "a.io/held:v1") {
		t.Errorf("got %v", err)
	}
	parts = append(parts, part{entry: bundle.Image{Reference: "a.io/missing:v1"}})
	if err := checkImages(manifests, parts, nil); err != nil {
		t.Error(err)
	}
	if err := checkImages([]rendered{{}}, parts, nil); err == nil {
		t.Error("a manifest without images went through: the check has become blind")
	}
}

func TestCheckImagesKnowsWhatIsNeverPulled(t *testing.T) {
	manifests := []rendered{{Manifest: manifest.Manifest{
		URL: "https://x/y.yaml", Content: []byte(
			"      - image: a.io/held:v1\n        args: [x]\n      - --solver-image=a.io/solver:v1\n"),
	}}}
	parts := []part{{entry: bundle.Image{Reference: "a.io/held:v1"}}}
	if err := checkImages(manifests, parts, map[string]string{"a.io/solver": "nothing starts it"}); err != nil {
		t.Error(err)
	}
	if err := checkImages(manifests, parts, map[string]string{"a.io/other": "nothing starts it"}); err == nil ||
		!strings.Contains(err.Error(), "a.io/solver:v1") ||
		!strings.Contains(err.Error(), "no manifest names a.io/other") {
		t.Errorf("got %v", err)
	}
}
