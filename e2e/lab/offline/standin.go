package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// standinRecipe is part of the stand-in's key: raise it when the way it is packed changes.
const standinRecipe = "1"

// rke2Artifacts builds the stand-in and packs it as RKE2's releases are packed: a tarball, and its checksum in a file.
func (b *builder) rke2Artifacts(ctx context.Context) (dir, key string, err error) {
	release := b.modules["kubernetes"].Pin.Version + plan.RKE2Revision
	if key, err = b.standinKey(ctx, release); err != nil {
		return "", "", err
	}
	dir, err = b.Store.Get("rke2", "standin", key, func(dir string) error {
		return b.Say.Step("build the stand-in for RKE2 "+release,
			func() error { return b.packStandin(ctx, dir, release) })
	})
	return dir, key, err
}

// standinKey hashes the stand-in's files, its dependency, the toolchain and the release.
func (b *builder) standinKey(ctx context.Context, release string) (string, error) {
	files, err := filepath.Glob(filepath.Join(b.standinDir(), "*.go"))
	if err != nil {
		return "", err
	}
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
	for _, name := range []string{"install.sh", "rke2-server.service", "rke2-agent.service"} {
		files = append(files, b.standinFile(name))
	}
	content, err := store.FileKey(files...)
	if err != nil {
		return "", err
	}
	yaml, err := golang.Version(filepath.Join(b.Root, "go.mod"), "sigs.k8s.io/yaml")
	if err != nil {
		return "", err
	}
	toolchain, err := host.Run(ctx, host.Command{Name: "go", Args: []string{"env", "GOVERSION"}})
	if err != nil {
		return "", err
	}
	return store.Key(standinRecipe, content, yaml, strings.TrimSpace(toolchain), runtime.GOARCH, release), nil
}

// packStandin writes the tarball and the file of checksums into dir.
func (b *builder) packStandin(ctx context.Context, dir, release string) error {
	work, err := os.MkdirTemp("", "cluster-init-lab-")
	if err != nil {
		return fmt.Errorf("build the stand-in: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	binary := filepath.Join(work, "rke2")
	if _, err := host.Run(ctx, host.Command{
		Name: "go", Dir: b.Root, Env: []string{"CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOARCH=" + runtime.GOARCH},
		Args: []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.release=" + release,
			"-o", binary, "./e2e/lab/rke2-standin"},
	}); err != nil {
		return err
	}
	// A layer is a compressed tarball that depends on its content alone.
	layer, err := image.WriteLayer(work, []image.Entry{
		{Path: "bin/"}, {Path: "bin/rke2", Source: binary, Mode: 0o755},
		{Path: "lib/"}, {Path: "lib/systemd/"}, {Path: "lib/systemd/system/"},
		{Path: "lib/systemd/system/rke2-server.service", Source: b.standinFile("rke2-server.service")},
		{Path: "lib/systemd/system/rke2-agent.service", Source: b.standinFile("rke2-agent.service")},
	})
	if err != nil {
		return err
	}
	digest, err := layer.Digest()
	if err != nil {
		return err
	}
	if err := saveLayer(layer, filepath.Join(dir, rke2Tarball())); err != nil {
		return fmt.Errorf("pack the stand-in: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, rke2Sums()), []byte(digest.Hex+"  "+rke2Tarball()+"\n"), 0o644)
}

// saveLayer copies a layer as it is compressed.
func saveLayer(layer v1.Layer, name string) error {
	from, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

func (b *builder) standinDir() string { return filepath.Join(b.Root, "e2e", "lab", "rke2-standin") }

func (b *builder) standinFile(name string) string {
	return filepath.Join(b.standinDir(), "files", name)
}

// rke2Tarball and rke2Sums are the names of RKE2's release files.
func rke2Tarball() string { return "rke2.linux-" + runtime.GOARCH + ".tar.gz" }
func rke2Sums() string    { return "sha256sum-" + runtime.GOARCH + ".txt" }
