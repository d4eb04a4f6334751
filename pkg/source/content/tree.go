package content

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"
)

// Tree is a set of files by slash-separated path. It is small (manifests), so it is held in memory.
type Tree map[string][]byte

// ReadTree reads all regular files below root of fsys; "." is all of it. Paths keep root as their first part.
func ReadTree(fsys fs.FS, root string) (Tree, error) {
	tree := Tree{}
	err := fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		tree[p] = data
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", root, err)
	}
	return tree, nil
}

// Hash is the SHA-256 of the tree's paths and contents, in hex.
func (t Tree) Hash() string {
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(t)) {
		sum := sha256.Sum256(t[p])
		fmt.Fprintf(h, "%x  %s\n", sum, p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// tarGz packs the tree. The same tree makes the same bytes: files are sorted, without times and owners, with one mode.
func (t Tree) tarGz() ([]byte, error) {
	var buf bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	tw := tar.NewWriter(zip)
	for _, p := range slices.Sorted(maps.Keys(t)) {
		head := &tar.Header{
			Typeflag: tar.TypeReg, Name: p, Mode: 0o644, Size: int64(len(t[p])), ModTime: time.Unix(0, 0),
		}
		if err := tw.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := tw.Write(t[p]); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// kustomization returns the path of the kustomization file of a folder, or "".
func (t Tree) kustomization(dir string) string {
	for _, base := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if p := path.Join(dir, base); t[p] != nil {
			return p
		}
	}
	return ""
}

// Kustomizations returns the folders that have a kustomization file, sorted.
func (t Tree) Kustomizations() []string {
	folders := map[string]bool{}
	for p := range t {
		if dir := path.Dir(p); t.kustomization(dir) != "" {
			folders[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}
