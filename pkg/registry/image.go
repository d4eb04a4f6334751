package registry

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// binaryPath is the path of the binary in the image.
const binaryPath = "/cluster-init"

// binaryImage is an image on scratch with one file: a static binary. The same binary makes the same image.
type binaryImage struct {
	path string // of the binary on this machine
	arch string
	hash string // of the binary
	size int64
}

// newBinaryImage reads the binary once, for its hash.
func newBinaryImage(path, arch string) (*binaryImage, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &binaryImage{path: path, arch: arch, hash: hex.EncodeToString(h.Sum(nil)), size: size}, nil
}

// reference is the image's tag, which changes with the binary.
func (b *binaryImage) reference() string { return owned.RegistryRepository + ":" + b.hash[:12] }

// writeTo writes the image as a `docker load` stream. It does not hold the binary in memory.
func (b *binaryImage) writeTo(w io.Writer) error {
	layer, err := b.layer()
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{
		OS: "linux", Architecture: b.arch,
		Config: v1.Config{Entrypoint: []string{binaryPath}},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{layer.hash}},
	})
	if err != nil {
		return err
	}
	tag, err := name.NewTag(b.reference())
	if err != nil {
		return err
	}
	return tarball.Write(tag, img, w)
}

// layer describes the image's one layer. It reads the binary once more.
func (b *binaryImage) layer() (*tarLayer, error) {
	l := &tarLayer{image: b}
	h := sha256.New()
	size := &counter{w: h}
	if err := b.writeTar(size); err != nil {
		return nil, err
	}
	l.hash = v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(h.Sum(nil))}
	l.size = size.n
	return l, nil
}

// writeTar writes the layer: the folders for mounts, and the binary, without times, owned by root.
func (b *binaryImage) writeTar(w io.Writer) error {
	f, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer f.Close()
	tw := tar.NewWriter(w)
	for _, dir := range []string{"run/", "run/cluster-init/", "var/", "var/lib/", "var/lib/registry/"} {
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}); err != nil {
			return err
		}
	}
	head := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(binaryPath, "/"), Mode: 0o755, Size: b.size}
	if err := tw.WriteHeader(head); err != nil {
		return err
	}
	if _, err := io.Copy(tw, f); err != nil {
		return fmt.Errorf("read %s: %w", b.path, err)
	}
	return tw.Close()
}

// tarLayer is the layer, not compressed: it goes to the local engine, and compressing 100 MB takes seconds.
type tarLayer struct {
	image *binaryImage
	hash  v1.Hash
	size  int64
}

// Digest is the hash of the tar; not being compressed, it is also its DiffID.
func (l *tarLayer) Digest() (v1.Hash, error) { return l.hash, nil }

// DiffID is the hash of the tar.
func (l *tarLayer) DiffID() (v1.Hash, error) { return l.hash, nil }

// Size is the length of the tar in bytes.
func (l *tarLayer) Size() (int64, error) { return l.size, nil }

// MediaType says that the layer is a plain tar.
func (l *tarLayer) MediaType() (types.MediaType, error) { return types.DockerUncompressedLayer, nil }

// Compressed streams the tar.
func (l *tarLayer) Compressed() (io.ReadCloser, error) { return l.Uncompressed() }

// Uncompressed streams the tar.
func (l *tarLayer) Uncompressed() (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(l.image.writeTar(w)) }()
	return r, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
