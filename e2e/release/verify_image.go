package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// verifyImage checks that the image is valid, and has for each platform the binary of that platform's archive.
func verifyImage(w io.Writer, dist string, sums map[string]string, programs map[string]program) error {
	name, err := released(dist, "cluster-init", "_image.tar", sums)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(dist, "verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	images, err := readImages(name, folder)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	for _, platform := range linuxPlatforms() {
		image, ok := images[platform]
		if !ok {
			return fmt.Errorf("%s has no image for %s", name, platform)
		}
		if err := validate.Image(image); err != nil {
			return fmt.Errorf("%s for %s: %w", name, platform, err)
		}
		sum, err := sumInImage(image)
		if err != nil {
			return fmt.Errorf("%s for %s: %w", name, platform, err)
		}
		if sum != programs[platform].sum {
			return fmt.Errorf("%s for %s: its cluster-init is %s, the archive's %s", name, platform, sum,
				programs[platform].sum)
		}
	}
	fmt.Fprintf(w, "image      %s: %d platforms\n", path.Base(name), len(images))
	return nil
}

// readImages unpacks the layout and returns its images by GOOS_GOARCH.
func readImages(name, folder string) (map[string]v1.Image, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := unpack(f, folder); err != nil {
		return nil, err
	}
	top, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, err
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%d indexes, want one", len(manifest.Manifests))
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		return nil, err
	}
	if manifest, err = index.IndexManifest(); err != nil {
		return nil, err
	}
	images := map[string]v1.Image{}
	for _, descriptor := range manifest.Manifests {
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			return nil, err
		}
		images[descriptor.Platform.OS+"_"+descriptor.Platform.Architecture] = image
	}
	return images, nil
}

// unpack writes the files of a tar below a folder that nothing leaves.
func unpack(r io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for t := tar.NewReader(r); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o755); err != nil {
			return err
		}
		f, err := root.Create(header.Name)
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, t); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}

// sumInImage is the SHA-256 of the image's cluster-init.
func sumInImage(image v1.Image) (string, error) {
	files := mutate.Extract(image)
	defer files.Close()
	for t := tar.NewReader(files); ; {
		header, err := t.Next()
		if err != nil {
			return "", fmt.Errorf("find %s: %w", imageBinary, err)
		}
		if "/"+strings.TrimPrefix(header.Name, "/") != imageBinary {
			continue
		}
		h := sha256.New()
		if _, err := io.Copy(h, t); err != nil {
			return "", err
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	}
}
