package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/node"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
	"github.com/cluster-init/cluster-init/pkg/bundle"
)

// nodeContent makes the images that a node holds from the start: those that kubeadm names, and the pod network.
func (b *builder) nodeContent(ctx context.Context) ([]part, error) {
	kubernetes := b.modules["kubernetes"]
	out, err := host.Run(ctx, host.Command{Name: kubernetes.File("kubeadm"), Args: []string{
		"config", "images", "list", "--kubernetes-version", kubernetes.Pin.Version,
	}})
	if err != nil {
		return nil, err
	}
	known := plan.NodeImages()
	var parts []part
	for _, reference := range strings.Fields(out) {
		name, _, _ := strings.Cut(reference[strings.LastIndex(reference, "/")+1:], ":")
		made, err := part{}, error(nil)
		if spec, found := known[name]; found {
			spec.Reference = reference
			made, err = b.binaryImage(ctx, spec)
		} else if name == "pause" {
			made, err = b.pauseImage(ctx, reference)
		} else {
			err = fmt.Errorf("kubeadm wants %s, which the lab does not know how to build", reference)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, made)
	}
	network, err := b.binaryImage(ctx, plan.Image{
		Reference: plan.NetworkImage, Module: "lab-cni", Files: []plan.File{{Binary: "lab-cni", Path: "lab-cni"}},
	})
	return append(parts, network), err
}

// pauseImage makes the image of the process that holds a pod's namespaces, from the lab's own source.
func (b *builder) pauseImage(ctx context.Context, reference string) (part, error) {
	source := filepath.Join(b.Root, "e2e", "lab", "pause", "main.go")
	key, err := store.FileKey(source)
	if err != nil {
		return part{}, err
	}
	return b.makeImage("pause", store.Key(recipe, key, reference), bundle.Image{Reference: reference},
		func(work string) (v1.Image, error) {
			binary := filepath.Join(work, "pause")
			if _, err := host.Run(ctx, host.Command{
				Name: "go", Dir: b.Root, Env: []string{"CGO_ENABLED=0", "GOFLAGS="},
				Args: []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", binary,
					"./e2e/lab/pause"},
			}); err != nil {
				return nil, err
			}
			layer, err := image.WriteLayer(work, []image.Entry{{Path: "pause", Source: binary, Mode: 0o755}})
			if err != nil {
				return nil, err
			}
			return image.Assemble(v1.Config{Env: []string{path}, Entrypoint: []string{"/pause"}, User: "65535:65535"},
				layer)
		})
}

// nodeImage makes the image of kind nodes and Docker machines.
func (b *builder) nodeImage(ctx context.Context, inside []part) (part, error) {
	kind, err := golang.Source(ctx, b.Root, "sigs.k8s.io/kind")
	if err != nil {
		return part{}, err
	}
	network, err := os.ReadFile(networkManifest(b.Root))
	if err != nil {
		return part{}, fmt.Errorf("read the pod network's manifest: %w", err)
	}
	rootfs, err := baseSystem().Build(ctx, b.Store, b.Say)
	if err != nil {
		return part{}, err
	}
	spec, keys := b.nodeSpec(inside)
	spec.KindModule, spec.Network, spec.Rootfs = kind, network, rootfs.Archive
	key := store.Key(append(keys, recipe, nodeRecipe, filepath.Base(kind), string(network), rootfs.Key)...)
	entry := b.moduleEntry("kindest/node:"+spec.KubernetesVersion, "kubernetes")
	entry.Load, entry.DebianBased = bundle.LoadDocker, true
	return b.makeImage("node", key, entry, func(work string) (made v1.Image, err error) {
		err = b.Say.Step("make the node image "+entry.Reference, func() error {
			made, err = b.assembleNode(ctx, spec, inside, work)
			return err
		})
		return made, err
	})
}

// nodeSpec collects what the node image takes from modules, and the keys of all of it.
func (b *builder) nodeSpec(inside []part) (node.Spec, []string) {
	containerd := b.modules["containerd"]
	spec := node.Spec{
		Binaries:          map[string]string{},
		KubernetesVersion: b.modules["kubernetes"].Pin.Version,
		Tools:             node.Tools{Containerd: containerd.File("containerd"), Ctr: containerd.File("ctr")},
	}
	var keys []string
	for _, made := range inside {
		keys = append(keys, made.key)
		if strings.Contains(made.entry.Reference, "/pause:") {
			spec.Pause = made.entry.Reference
		}
	}
	for module, files := range plan.NodeBinaries() {
		keys = append(keys, b.modules[module].Key, fmt.Sprint(files))
		for _, file := range files {
			spec.Binaries[file.Path] = b.modules[module].File(file.Binary)
		}
	}
	slices.Sort(keys)
	return spec, keys
}

// assembleNode joins the images inside into one layout and makes the node image.
func (b *builder) assembleNode(ctx context.Context, spec node.Spec, inside []part, work string) (v1.Image, error) {
	spec.Images = filepath.Join(work, "images")
	layout, err := image.Create(spec.Images)
	if err != nil {
		return nil, err
	}
	for _, made := range inside {
		content, err := image.Single(made.dir)
		if err != nil {
			return nil, err
		}
		if err := image.Add(layout, made.entry.Reference, content); err != nil {
			return nil, err
		}
	}
	return node.Build(ctx, spec, work)
}
