package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const (
	reference = "registry.example/app:v1"
	url       = "https://example.org/v1/app.yaml"
	component = "kustomize-components/own/kustomization.yaml"
)

// write makes a bundle of one image and one manifest in a new folder.
func write(t *testing.T) (dir string, index Index) {
	t.Helper()
	dir = t.TempDir()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(64, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := path.AppendImage(image, layout.WithAnnotations(
		map[string]string{RefNameAnnotation: reference})); err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("kind: Namespace\n")
	if err := os.WriteFile(filepath.Join(dir, "app.yaml"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	index = Index{
		Version: "v", Environments: []string{"kubeadm-capd"},
		Images:    []Image{{Reference: reference, Digest: digest.String(), Load: LoadRegistry}},
		Manifests: []Manifest{{URL: url, Path: "app.yaml", SHA256: hex.EncodeToString(sum[:])}},
	}
	profile := map[string][]byte{component: []byte("resources: []\n")}
	index.Profile = ProfileIndex(profile)
	if err := WriteProfile(dir, profile); err != nil {
		t.Fatal(err)
	}
	if err := WriteIndex(dir, index); err != nil {
		t.Fatal(err)
	}
	return dir, index
}

func TestOpenReadsWhatWasWritten(t *testing.T) {
	dir, index := write(t)
	opened, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.Verify(context.Background()); err != nil {
		t.Error(err)
	}
	image, err := opened.Image(reference)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := image.Digest(); err != nil || digest.String() != index.Images[0].Digest {
		t.Errorf("got %s (%v)", digest, err)
	}
	if content, found, err := opened.Manifest(url); err != nil || !found || string(content) != "kind: Namespace\n" {
		t.Errorf("got %q, %v, %v", content, found, err)
	}
	if profile, err := opened.Profile(); err != nil || string(profile[component]) != "resources: []\n" ||
		len(profile) != 1 {
		t.Errorf("got the profile %q (%v)", profile, err)
	}
	if _, found, err := opened.Manifest("https://example.org/other"); found || err != nil {
		t.Errorf("an unknown URL gave %v, %v", found, err)
	}
	if content, err := opened.Fetch(t.Context(), url); err != nil || string(content) != "kind: Namespace\n" {
		t.Errorf("fetched %q (%v)", content, err)
	}
	_, err = opened.Fetch(t.Context(), "https://me:s3cret@example.org/other")
	if fault.CodeOf(err) != fault.BundleInvalid || !strings.Contains(err.Error(), "example.org/other") ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("fetching an unknown URL gave %v", err)
	}
	if err := opened.For("kubeadm-capd"); err != nil {
		t.Error(err)
	}
	if err := opened.For("rke2-capo"); err == nil || !strings.Contains(err.Error(), "kubeadm-capd") {
		t.Errorf("an environment that the bundle has not gave %v", err)
	}
}

// blobs returns the files of the layout's blobs but the image's manifest.
func blobs(t *testing.T, dir, manifest string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, file := range files {
		if !strings.HasSuffix(manifest, filepath.Base(file)) {
			others = append(others, file)
		}
	}
	return others
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		damage func(t *testing.T, dir string, index Index) error
		want   string
	}{
		"no index": {func(_ *testing.T, dir string, _ Index) error { return os.Remove(filepath.Join(dir, IndexFile)) },
			"no bundle.json"},
		"not JSON": {func(_ *testing.T, dir string, _ Index) error {
			return os.WriteFile(filepath.Join(dir, IndexFile), []byte("{"), 0o644)
		}, "parse"},
		"other format": {func(_ *testing.T, dir string, _ Index) error {
			return os.WriteFile(filepath.Join(dir, IndexFile), []byte(`{"schema":3}`), 0o644)
		}, "format 3"},
		"image that the layout has not": {func(_ *testing.T, dir string, index Index) error {
			index.Images = append(index.Images, Image{Reference: "registry.example/gone:v2",
				Digest: index.Images[0].Digest})
			return WriteIndex(dir, index)
		}, "image registry.example/gone:v2 is missing"},
		"image of another digest": {func(_ *testing.T, dir string, index Index) error {
			index.Images[0].Digest = "sha256:" + strings.Repeat("0", 64)
			return WriteIndex(dir, index)
		}, "image " + reference + " is sha256:"},
		"blob missing": {func(t *testing.T, dir string, index Index) error {
			return os.Remove(blobs(t, dir, index.Images[0].Digest)[0])
		}, "image " + reference + ": blob"},
		"blob truncated": {func(t *testing.T, dir string, index Index) error {
			return os.Truncate(blobs(t, dir, index.Images[0].Digest)[0], 3)
		}, "has 3 bytes"},
		"manifest missing": {func(_ *testing.T, dir string, _ Index) error {
			return os.Remove(
				filepath.Join(dir, "app.yaml"))
		}, url},
		"manifest missing, and a token in its address": {func(_ *testing.T, dir string, index Index) error {
			index.Manifests = append(index.Manifests, Manifest{URL: "https://s3cret@example.org/b.yaml",
				Path: "b.yaml", SHA256: index.Manifests[0].SHA256})
			return WriteIndex(dir, index)
		}, "manifest https://xxxxx@example.org/b.yaml is missing"},
		"file of the profile missing": {func(_ *testing.T, dir string, _ Index) error {
			return os.Remove(filepath.Join(dir, "profile", component))
		}, component},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, index := write(t)
			if err := test.damage(t, dir, index); err != nil {
				t.Fatal(err)
			}
			_, err := Open(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			if fault.CodeOf(err) != fault.BundleInvalid || fault.HintOf(err) == "" {
				t.Errorf("code %s, hint %q", fault.CodeOf(err), fault.HintOf(err))
			}
		})
	}
}

func TestVerifyFindsChangedContent(t *testing.T) {
	dir, index := write(t)
	own := filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(index.Images[0].Digest, "sha256:"))
	for _, file := range append(blobs(t, dir, index.Images[0].Digest), own, filepath.Join(dir, "app.yaml"),
		filepath.Join(dir, "profile", component)) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := append([]byte{content[0] ^ 1}, content[1:]...)
		if err := os.WriteFile(file, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		opened, err := Open(dir)
		if err == nil {
			err = opened.Verify(context.Background())
		}
		if err == nil {
			t.Errorf("%s changed, which was not detected", filepath.Base(file))
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProfileStaysInside(t *testing.T) {
	dir, index := write(t)
	index.Profile[0].Path = "../../etc/passwd"
	opened := &Bundle{Dir: dir, Index: index}
	if _, err := opened.Profile(); fault.CodeOf(err) != fault.BundleInvalid {
		t.Errorf("a path outside of the profile gave %v", err)
	}
}

// A bundle from another author reads no file outside of its folder, and nothing without an end.
func TestAForgedBundleIsRefused(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte("kind: Namespace\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(name, to string) func(*testing.T, string, *Index) {
		return func(t *testing.T, dir string, _ *Index) {
			_ = os.Remove(filepath.Join(dir, name))
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	large := func(name string) func(*testing.T, string, *Index) {
		return func(t *testing.T, dir string, _ *Index) {
			if err := os.Truncate(filepath.Join(dir, name), 80<<20); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		forge func(*testing.T, string, *Index)
		want  string
	}{
		"its index is a device":          {link(IndexFile, "/dev/zero"), "no regular file"},
		"the layout's index is a device": {link("index.json", "/dev/zero"), "not a regular file"},
		"a manifest is a link":           {link("app.yaml", outside), "not a regular file"},
		"a folder is a link":             {link("more", filepath.Dir(outside)), "not a regular file"},
		"its index is large":             {large(IndexFile), "more than 64 MiB"},
		"the layout's index is large":    {large("index.json"), "more than 64 MiB"},
		"a manifest of an image is large": {func(t *testing.T, dir string, i *Index) {
			large("blobs/sha256/"+strings.TrimPrefix(i.Images[0].Digest, "sha256:"))(t, dir, i)
		}, "more than 64 MiB"},
		"a manifest is elsewhere": {func(_ *testing.T, dir string, i *Index) {
			i.Manifests[0].Path, _ = filepath.Rel(dir, outside)
		}, "leads out of the bundle"},
		"a file of the profile is elsewhere": {func(_ *testing.T, dir string, i *Index) {
			i.Profile[0].Path, _ = filepath.Rel(filepath.Join(dir, profileFolder), outside)
		}, "leads out of the bundle"},
	} {
		dir, index := write(t)
		tc.forge(t, dir, &index)
		if strings.Contains(name, "elsewhere") {
			if err := WriteIndex(dir, index); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(dir); fault.CodeOf(err) != fault.BundleInvalid || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
