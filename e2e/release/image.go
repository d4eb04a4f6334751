package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/cobra"
)

const (
	imageBinary = "/usr/local/bin/cluster-init"
	imageRoots  = "/etc/ssl/certs/ca-certificates.crt"
	source      = "https://github.com/cluster-init/cluster-init"
)

// imageOptions says what goes into the image.
type imageOptions struct {
	version, revision string
	created           string // RFC 3339; the date of the commit, so that the same commit gives the same image
	roots             string // PEM file of the certificate authorities
	output            string // the OCI layout, in one tar file
}

func newImage() *cobra.Command {
	var o imageOptions
	c := &cobra.Command{
		Use:   "image DIST",
		Short: "Write an OCI layout with an image for each linux binary that goreleaser has built in DIST so far",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return o.run(args[0]) },
	}
	c.Flags().StringVar(&o.version, "version", "development", "version of cluster-init")
	c.Flags().StringVar(&o.revision, "revision", "", "commit")
	c.Flags().StringVar(&o.created, "created", time.Now().UTC().Format(time.RFC3339), "date of the commit, RFC 3339")
	c.Flags().StringVar(&o.roots, "roots", "", "PEM file of the certificate authorities")
	c.Flags().StringVar(&o.output, "output", "image.tar", "file to write")
	return c
}

func (o imageOptions) run(dist string) error {
	created, err := time.Parse(time.RFC3339, o.created)
	if err != nil {
		return fmt.Errorf("read --created: %w", err)
	}
	annotations := map[string]string{
		"org.opencontainers.image.title": "cluster-init", "org.opencontainers.image.version": o.version,
		"org.opencontainers.image.revision": o.revision, "org.opencontainers.image.created": o.created,
		"org.opencontainers.image.source": source, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range []string{"amd64", "arm64"} {
		binary, err := builtBinary(dist, "linux", arch)
		if err != nil {
			return err
		}
		if binary == "" {
			continue // goreleaser builds it next, and calls again
		}
		image, err := newImageOf(binary, o.roots, arch, created, annotations)
		if err != nil {
			return fmt.Errorf("image for linux/%s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	index, _ = mutate.Annotations(index, annotations).(v1.ImageIndex)
	return writeLayout(index, o.version, o.output)
}

// builtBinary returns the path of goreleaser's binary for a platform, or nothing. goreleaser adds the level of the
// instruction set to the folder's name.
func builtBinary(dist, system, arch string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dist, system+"_"+system+"_"+arch+"*", "cluster-init"))
	if err != nil || len(found) == 0 {
		return "", err
	}
	if len(found) > 1 {
		return "", fmt.Errorf("%d binaries for %s/%s in %s", len(found), system, arch, dist)
	}
	return found[0], nil
}

// newImageOf is an image on scratch with cluster-init, the certificate authorities, and a /tmp, which it unpacks into.
func newImageOf(binary, roots, arch string, created time.Time, labels map[string]string) (v1.Image, error) {
	base, err := newLayer(created, entry{path: "/tmp", mode: 0o1777}, entry{path: "/root", mode: 0o700},
		entry{path: imageRoots, mode: 0o644, file: roots})
	if err != nil {
		return nil, err
	}
	program, err := newLayer(created, entry{path: imageBinary, mode: 0o755, file: binary})
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.AppendLayers(image, base, program)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: created}
	config.Config = v1.Config{
		Entrypoint: []string{imageBinary}, Labels: labels,
		Env: []string{"PATH=/usr/local/bin", "HOME=/root"},
	}
	return mutate.ConfigFile(image, config)
}

// writeLayout writes the index as an OCI layout, and the layout as one tar file.
func writeLayout(index v1.ImageIndex, version, output string) error {
	folder, err := os.MkdirTemp(filepath.Dir(output), "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return fmt.Errorf("write the OCI layout: %w", err)
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version})
	if err := path.AppendIndex(index, name); err != nil {
		return fmt.Errorf("write the OCI layout: %w", err)
	}
	return writeTar(folder, output)
}
