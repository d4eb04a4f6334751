package definitions

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

func isKustomization(file string) bool {
	base := path.Base(file)
	return base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization"
}

// kustomization hashes what a kustomization does to the objects of the definition in the folder at: one that only lists
// resources does nothing. It also hashes the resources and components outside of that folder.
func (r *reader) kustomization(at, file string, object map[string]any) error {
	more := map[string]any{}
	for field, value := range object {
		if field != "apiVersion" && field != "kind" && field != "resources" {
			more[field] = value
		}
	}
	if len(more) > 0 {
		if err := r.add(more); err != nil {
			return err
		}
	}
	for _, field := range []string{"resources", "bases", "components"} {
		entries, _ := object[field].([]any)
		for _, entry := range entries {
			name, _ := entry.(string)
			target := path.Join(path.Dir(file), name)
			if name == "" || path.IsAbs(name) || strings.Contains(name, "://") || target == at ||
				strings.HasPrefix(target, at+"/") {
				continue
			}
			if err := r.refuseOutside(target); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseOutside hashes a file or a folder outside of the definition's own, once. It refuses nothing, and ignores what
// the content does not have.
func (r *reader) refuseOutside(target string) error {
	if r.seen[target] {
		return nil
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[target] = true
	if _, err := fs.Stat(r.content, target); errors.Is(err, fs.ErrNotExist) {
		return nil // github.com/NAME/NAME is a name of another server too, and Flux itself reports an invalid one
	}
	if err := r.folder(target); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}
