package offline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// unfinished begins the name of the folder that a bundle is put together in.
const unfinished = ".bundle-"

// write puts the bundle together, unless the one in Out is the same already.
func (b *builder) write(parts []part, content []bundle.Image, manifests []rendered) error {
	index := b.index(parts, content, manifests)
	if current, err := bundle.Open(b.Out); err == nil && current.Index.Version == index.Version {
		b.Say.Say("the bundle in %s is up to date (version %s)", b.Out, index.Version)
		return nil
	}
	return b.Say.Step("write the bundle to "+b.Out, func() error {
		if err := os.MkdirAll(filepath.Dir(b.Out), 0o755); err != nil {
			return fmt.Errorf("create the bundle's folder: %w", err)
		}
		temporary, err := os.MkdirTemp(filepath.Dir(b.Out), unfinished)
		if err != nil {
			return fmt.Errorf("create the bundle's folder: %w", err)
		}
		defer func() { _ = os.RemoveAll(temporary) }()
		if err := fill(temporary, index, parts, manifests, b.profile); err != nil {
			return err
		}
		return replaceFolder(temporary, b.Out)
	})
}

// Sweep removes bundles next to the default place that a killed lab did not finish: each takes as much of the disk as a
// whole one. Only the process that holds the lab's build lock may call it.
func Sweep() error {
	place, err := host.CacheDir()
	if err != nil {
		return err
	}
	folders, err := filepath.Glob(filepath.Join(place, unfinished+"*"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("remove an unfinished bundle: %w", err)
		}
	}
	return nil
}

// index describes the bundle. Its version covers everything in it, so it changes when anything does.
func (b *builder) index(parts []part, content []bundle.Image, manifests []rendered) bundle.Index {
	index := bundle.Index{
		Schema: bundle.Schema, Environments: b.Environments, KubernetesVersion: b.modules["kubernetes"].Pin.Version,
		NodeContent: content, Values: b.values, Profile: bundle.ProfileIndex(b.profile),
	}
	for _, made := range parts {
		index.Images = append(index.Images, made.entry)
		switch {
		case strings.HasPrefix(made.entry.Reference, "kindest/node:"):
			index.NodeImage = made.entry.Reference
		case strings.HasPrefix(made.entry.Reference, "kindest/haproxy:"):
			index.LoadBalancerImage = made.entry.Reference
		}
	}
	for _, manifest := range manifests {
		sum := sha256.Sum256(manifest.Content)
		digest := hex.EncodeToString(sum[:])
		index.Manifests = append(index.Manifests, bundle.Manifest{
			URL: manifest.URL, Path: "manifests/" + digest[:12] + "-" +
				manifest.URL[strings.LastIndex(manifest.URL, "/")+1:],
			SHA256: digest, Module: manifest.Module, ModuleVersion: manifest.Version,
		})
	}
	// Maps are encoded in the order of their keys, so this is stable.
	encoded, err := json.Marshal(index)
	if err != nil {
		panic("the bundle's index is plain data: " + err.Error())
	}
	index.Version = store.Key(string(encoded))
	return index
}

// fill writes the images, the manifests, the profile and, last, the index.
func fill(dir string, index bundle.Index, parts []part, manifests []rendered, profile content.Tree) error {
	layout, err := image.Create(dir)
	if err != nil {
		return err
	}
	for _, made := range parts {
		content, err := image.Single(made.dir)
		if err != nil {
			return err
		}
		if err := image.Add(layout, made.entry.Reference, content); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o755); err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	for i, manifest := range manifests {
		file := filepath.Join(dir, filepath.FromSlash(index.Manifests[i].Path))
		if err := os.WriteFile(file, manifest.Content, 0o644); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
	}
	if err := bundle.WriteProfile(dir, profile); err != nil {
		return err
	}
	return bundle.WriteIndex(dir, index)
}

// checkPlace returns an error when a bundle may not be written to the folder: it holds something, and not a bundle.
func checkPlace(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into the bundle's folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, bundle.IndexFile)); err != nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty and holds no bundle: choose another folder", dir)
	}
	return nil
}

// replaceFolder moves a folder to its place, which checkPlace has found to be a bundle or empty.
func replaceFolder(from, to string) error {
	if err := checkPlace(to); err != nil {
		return err
	}
	if err := os.Chmod(from, 0o755); err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("remove the old bundle: %w", err)
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	return nil
}
