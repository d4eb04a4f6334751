package content

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Fetcher returns the content of an https URL.
type Fetcher interface {
	Fetch(ctx context.Context, url string) ([]byte, error)
}

// Localize returns the tree with every remote file that the kustomizations in paths name under `resources:` fetched and
// written next to them as remote-<name>.yaml. It follows kustomizations that these name by folder. The rest of the tree
// stays as it is. Git addresses (…?ref=, .git, //) are no files: kustomize clones them itself.
func Localize(ctx context.Context, tree Tree, paths []string, fetch Fetcher) (Tree, error) {
	l := &localizer{tree: maps.Clone(tree), fetch: fetch, seen: map[string]bool{}}
	for _, p := range paths {
		dir := path.Clean(p)
		if l.tree.kustomization(dir) == "" {
			return nil, fault.New(fault.ComponentUnknown, fmt.Sprintf("component path %s: it has no kustomization", p),
				"Set the component's path to a folder with a kustomization.yaml; give a folder of your own with "+
					"--components.")
		}
		if err := l.folder(ctx, dir); err != nil {
			return nil, err
		}
	}
	return l.tree, nil
}

// localizer walks kustomizations, each once.
type localizer struct {
	tree  Tree
	fetch Fetcher
	seen  map[string]bool
}

// folder localizes the kustomization of one folder and those it names.
func (l *localizer) folder(ctx context.Context, dir string) error {
	file := l.tree.kustomization(dir)
	if file == "" || l.seen[dir] {
		return nil
	}
	l.seen[dir] = true
	doc, err := yaml.Parse(string(l.tree[file]))
	if err != nil {
		return fault.Wrap(fmt.Errorf("parse %s: %w", file, err), fault.EnvironmentInvalid, "")
	}
	changed := false
	for _, field := range []string{"resources", "components", "bases"} {
		entries, err := entries(doc, field)
		if err != nil {
			return fault.Wrap(fmt.Errorf("parse %s: %w", file, err), fault.EnvironmentInvalid, "")
		}
		for _, entry := range entries {
			address := entry.YNode().Value
			if field != "resources" || !isRemoteFile(address) {
				if err := l.folder(ctx, path.Join(dir, address)); err != nil {
					return err
				}
				continue
			}
			data, err := l.fetch.Fetch(ctx, address)
			if err != nil {
				return fmt.Errorf("localize %s: %w", file, err)
			}
			local := l.localName(dir, address)
			l.tree[path.Join(dir, local)] = data
			entry.YNode().Value = local
			entry.YNode().Style = 0
			changed = true
		}
	}
	if !changed {
		return nil
	}
	text, err := doc.String()
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	l.tree[file] = []byte(text)
	return nil
}

// localName is the file name for a remote file in dir: its own name, and a part of the URL's hash if that is taken.
func (l *localizer) localName(dir, address string) string {
	base := "resource"
	if u, err := url.Parse(address); err == nil && path.Base(u.Path) != "/" && path.Base(u.Path) != "." {
		base = path.Base(u.Path)
	}
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
	local := "remote-" + base + ".yaml"
	if _, taken := l.tree[path.Join(dir, local)]; taken {
		sum := sha256.Sum256([]byte(address))
		local = fmt.Sprintf("remote-%s-%x.yaml", base, sum[:4])
	}
	return local
}

// entries returns the items of a list field, none if the field is absent.
func entries(doc *yaml.RNode, field string) ([]*yaml.RNode, error) {
	list, err := doc.Pipe(yaml.Get(field))
	if err != nil || list == nil || list.IsNil() {
		return nil, err
	}
	items, err := list.Elements()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return items, nil
}

// isRemoteFile distinguishes an https address of a file from a path and from a git address.
func isRemoteFile(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return false
	}
	query := u.Query()
	git := query.Has("ref") || query.Has("version") || strings.Contains(u.Path, "//") ||
		strings.HasSuffix(u.Path, ".git") || strings.Contains(u.Path, ".git/") || strings.Contains(u.Path, "/_git/")
	return !git
}

// RemoteFiles lists the URLs that Localize would fetch for paths, without fetching them.
func RemoteFiles(ctx context.Context, tree Tree, paths []string) ([]string, error) {
	r := &recorder{}
	if _, err := Localize(ctx, tree, paths, r); err != nil {
		return nil, err
	}
	return r.urls, nil
}

type recorder struct{ urls []string }

func (r *recorder) Fetch(_ context.Context, url string) ([]byte, error) {
	r.urls = append(r.urls, url)
	return []byte{}, nil
}
