package offline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// rke2Machines is the image of machines that RKE2 turns into nodes, with the Kubernetes version as tag.
const rke2Machines = "cluster-init.io/lab/rke2-standin-node:"

// rke2NodeImage makes the node image with one layer on top: what RKE2's air-gapped installation finds on a machine,
// with the stand-in in RKE2's place, and a kubelet that tells RKE2's version. It returns the checksum of the file of
// checksums too.
func (b *builder) rke2NodeImage(ctx context.Context, base part) (made part, checksum string, err error) {
	artifacts, key, err := b.rke2Artifacts(ctx)
	if err != nil {
		return part{}, "", err
	}
	kubelet, err := (&golang.Builder{Root: b.Root, Store: b.Store, Say: b.Say}).Build(
		ctx, plan.Kubelet(plan.RKE2Revision))
	if err != nil {
		return part{}, "", err
	}
	sums, err := os.ReadFile(filepath.Join(artifacts, rke2Sums()))
	if err != nil {
		return part{}, "", fmt.Errorf("read the stand-in's checksums: %w", err)
	}
	entry := base.entry
	entry.Reference = rke2Machines + b.modules["kubernetes"].Pin.Version
	made, err = b.makeImage("rke2-node", store.Key(recipe, base.key, base.entry.Digest, key, kubelet.Key,
		entry.Reference), entry, func(work string) (v1.Image, error) {
		node, err := image.Single(base.dir)
		if err != nil {
			return nil, err
		}
		layer, err := image.WriteLayer(work, []image.Entry{
			{Path: "opt/install.sh", Source: b.standinFile("install.sh"), Mode: 0o755},
			{Path: "opt/rke2-artifacts/"},
			{Path: "opt/rke2-artifacts/" + rke2Tarball(), Source: filepath.Join(artifacts, rke2Tarball())},
			{Path: "opt/rke2-artifacts/" + rke2Sums(), Content: sums},
			{Path: "usr/bin/kubelet", Source: kubelet.File("kubelet"), Mode: 0o755},
		})
		if err != nil {
			return nil, err
		}
		return mutate.Append(node, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
			History: v1.History{CreatedBy: "cluster-init lab"}})
	})
	return made, hash(sums), err
}

// hash is the SHA-256 of content in hexadecimal digits.
func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
