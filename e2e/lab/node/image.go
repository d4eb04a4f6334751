package node

import (
	"context"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
)

// patchMarker makes kind add the address of its API server to the network's environment, so that the network need not
// wait for kube-proxy. See kind's pkg/cluster/internal/create/actions/installcni.
const patchMarker = "# would you kindly patch this file\n"

// storageManifest must hold at least one object, as kind applies it with kubectl. The lab has no storage driver.
const storageManifest = `apiVersion: v1
kind: ConfigMap
metadata:
  name: no-default-storage
  namespace: kube-system
`

// Tools are programs that run on this host while the image is made.
type Tools struct{ Containerd, Ctr string }

// Spec is all that a node image is made of.
type Spec struct {
	KindModule        string            // folder of kind's module
	Rootfs            string            // archive of the Debian root file system
	Binaries          map[string]string // path in the image to file on this host
	KubernetesVersion string
	Pause             string // reference of the pause image
	Images            string // image layout of what every node runs
	Network           []byte // manifest of the pod network
	Tools             Tools
}

// Build makes the image; its layers are files below work and must outlive it.
func Build(ctx context.Context, spec Spec, work string) (v1.Image, error) {
	rootfs, err := image.WriteRootLayer(work, spec.Rootfs, Unwanted)
	if err != nil {
		return nil, err
	}
	entries, err := fileEntries(ctx, spec)
	if err != nil {
		return nil, err
	}
	files, err := image.WriteLayer(work, entries)
	if err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp("", "cluster-init-lab-")
	if err != nil {
		return nil, fmt.Errorf("create a folder for containerd: %w", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	data, err := importImages(ctx, spec.Tools, spec.Images, temporary)
	if err != nil {
		return nil, err
	}
	content, err := image.WriteLayer(work, data)
	if err != nil {
		return nil, err
	}
	return image.Assemble(v1.Config{
		Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "container=docker"},
		Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"},
		StopSignal: "SIGRTMIN+3",
	}, rootfs, files, content)
}

// fileEntries returns all that lies on top of the root file system, but the images.
func fileEntries(ctx context.Context, spec Spec) ([]image.Entry, error) {
	entries, err := kindFiles(spec.KindModule, spec.Pause)
	if err != nil {
		return nil, err
	}
	generated, err := host.Run(ctx, host.Command{Name: spec.Tools.Ctr, Args: []string{"oci", "spec"}})
	if err != nil {
		return nil, err
	}
	base, err := runtimeSpec([]byte(generated))
	if err != nil {
		return nil, err
	}
	entries = append(entries, systemdFiles()...)
	entries = append(entries,
		image.Entry{Path: "etc/containerd/cri-base.json", Content: base},
		image.Entry{Path: "kind/version", Content: []byte(spec.KubernetesVersion)},
		image.Entry{Path: "kind/manifests/default-cni.yaml", Content: append([]byte(patchMarker), spec.Network...)},
		image.Entry{Path: "kind/manifests/default-storage.yaml", Content: []byte(storageManifest)},
	)
	for target, source := range spec.Binaries {
		entries = append(entries, image.Entry{Path: target, Source: source, Mode: 0o755})
	}
	return entries, nil
}
