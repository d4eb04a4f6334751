package bundle

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/distribution"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// layoutImages serves images from a real OCI layout on disk, as a bundle does.
type layoutImages struct {
	dir    string
	images map[string]v1.Image
}

func newLayoutImages(t *testing.T, references ...string) *layoutImages {
	t.Helper()
	l := &layoutImages{dir: t.TempDir(), images: map[string]v1.Image{}}
	path, err := layout.Write(l.dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	for _, reference := range references {
		img, err := random.Image(4<<10, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := path.AppendImage(img); err != nil {
			t.Fatal(err)
		}
		digest, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if l.images[reference], err = path.Image(digest); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *layoutImages) Image(reference string) (v1.Image, error) {
	if img, ok := l.images[reference]; ok {
		return img, nil
	}
	return nil, fault.New(fault.BundleInvalid, "the bundle contains no image "+reference, "build it again")
}

// corrupt flips a byte of the first layer of an image on disk.
func (l *layoutImages) corrupt(t *testing.T, reference string) {
	t.Helper()
	layers, err := l.images[reference].Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(l.dir, "blobs", digest.Algorithm, digest.Hex)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 0xff
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// fakeEngine keeps what it loads, by reference.
type fakeEngine struct {
	ids   map[string]string
	loads int
}

func (e *fakeEngine) Image(_ context.Context, reference string) (docker.Image, error) {
	if id, ok := e.ids[reference]; ok {
		return docker.Image{ID: id}, nil
	}
	return docker.Image{}, fmt.Errorf("inspect: %w", docker.ErrNotFound)
}

func (e *fakeEngine) Load(_ context.Context, r io.Reader) error {
	e.loads++
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("docker load: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	manifest, err := tarball.LoadManifest(open)
	if err != nil {
		return err
	}
	for _, d := range manifest {
		tag, err := name.NewTag(d.RepoTags[0])
		if err != nil {
			return err
		}
		img, err := tarball.Image(open, &tag)
		if err != nil {
			return err
		}
		id, err := img.ConfigName()
		if err != nil {
			return err
		}
		e.ids[d.RepoTags[0]] = id.String()
	}
	return nil
}

// target is the registry without any of the machine's credentials.
func target(r *distribution.Registry) oci.Target {
	return oci.Target{Prefix: r.Host, Insecure: true, Options: []remote.Option{remote.WithAuth(authn.Anonymous)}}
}

func TestLoadImages(t *testing.T) {
	refs := []string{"kindest/node:v1.36.4", "kindest/haproxy:v1"}
	source := newLayoutImages(t, refs...)
	engine := &fakeEngine{ids: map[string]string{refs[1]: "sha256:stale"}}
	var said []string
	report := func(s Step) {
		said = append(said, fmt.Sprintf("%d/%d %s %v", s.Done, s.Total, s.What, s.Size > 0 || s.Sent > 0))
	}
	if err := LoadImages(context.Background(), engine, source, refs, report); err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		want, _ := source.images[ref].ConfigName()
		if engine.ids[ref] != want.String() {
			t.Errorf("the engine has %s as %s, want %s", ref, engine.ids[ref], want)
		}
	}
	if want := []string{"0/2 " + refs[0] + " true", "1/2 " + refs[1] + " true", "2/2  true"}; !slices.Equal(
		said, want) {
		t.Errorf("progress %q, want %q", said, want)
	}
	if err := LoadImages(context.Background(), engine, source, refs, nil); err != nil {
		t.Fatal(err)
	}
	if engine.loads != 2 {
		t.Errorf("%d loads for two images given twice", engine.loads)
	}
}

func TestFillRegistry(t *testing.T) {
	r := distribution.Start(t)
	refs := []string{"registry.k8s.io/a/b:v1", "busybox:1", "reg.example:5000/x:v2"}
	places := []string{"registry.k8s.io/a/b:v1", "docker.io/library/busybox:1", "reg.example-5000/x:v2"}
	source := newLayoutImages(t, refs...)
	if err := FillRegistry(context.Background(), target(r), source, refs, nil); err != nil {
		t.Fatal(err)
	}
	for i, place := range places {
		tag, err := name.NewTag(r.Host+"/"+place, name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		got, err := remote.Head(tag)
		if err != nil {
			t.Fatalf("%s is not at %s: %v", refs[i], place, err)
		}
		if want, _ := source.images[refs[i]].Digest(); got.Digest != want {
			t.Errorf("%s has digest %s, want %s", place, got.Digest, want)
		}
	}
	r.Writes.Store(0)
	if err := FillRegistry(context.Background(), target(r), source, refs, nil); err != nil {
		t.Fatal(err)
	}
	if r.Writes.Load() != 0 {
		t.Errorf("filling again sent %d writes", r.Writes.Load())
	}
}

func TestBundleFaults(t *testing.T) {
	const good, bad, missing = "example.org/good:v1", "example.org/bad:v1", "example.org/missing:v1"
	ways := map[string]func(*testing.T, ImageSource, ...string) error{
		"engine": func(_ *testing.T, s ImageSource, refs ...string) error {
			return LoadImages(context.Background(), &fakeEngine{ids: map[string]string{}}, s, refs, nil)
		},
		"registry": func(t *testing.T, s ImageSource, refs ...string) error {
			return FillRegistry(context.Background(), target(distribution.Start(t)), s, refs, nil)
		},
	}
	for way, put := range ways {
		for _, ref := range []string{missing, bad} {
			t.Run(way+" "+ref, func(t *testing.T) {
				source := newLayoutImages(t, good, bad)
				source.corrupt(t, bad)
				err := put(t, source, good, ref)
				if fault.CodeOf(err) != fault.BundleInvalid || !strings.Contains(err.Error(), ref) ||
					fault.HintOf(err) == "" {
					t.Errorf("error %v has code %q and hint %q", err, fault.CodeOf(err), fault.HintOf(err))
				}
			})
		}
	}
}
