package environment

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// withheld is a secret of another folder. No document gets it: the author of `from` could send it to their own server.
type withheld struct {
	file  string // that contains it, by the user's name
	keys  []string
	above int // the first layer that overrides the file's
}

// withheldError reports the secrets in a file of another folder that nothing else gives.
type withheldError struct {
	file  string
	paths []string
}

const mostPathsShown = 8

// secretTest reports whether the value at a path is secret.
type secretTest func(keys []string, value any) bool

// Error names the file and the paths of its secrets, never their values.
func (e withheldError) Error() string {
	paths := e.paths
	if len(paths) > mostPathsShown {
		paths = append(slices.Clone(paths[:mostPathsShown]), fmt.Sprintf("%d more", len(paths)-mostPathsShown))
	}
	return fmt.Sprintf("%s: the secrets of a folder elsewhere are not used: %s", e.file, strings.Join(paths, ", "))
}

// keepsSecrets reports whether the secrets of a folder on the disk may be used: it is below the folder that contains
// the environment.
func (o Options) keepsSecrets(folder string) bool {
	relative, err := filepath.Rel(o.root, folder)
	return err == nil && relative != "." && filepath.IsLocal(relative)
}

// withhold returns values without the secret ones, and records their paths. A layer that is read later may give them.
func (s *substituter) withhold(file string, values map[string]any, secret secretTest) map[string]any {
	kept, taken := sift(nil, values, secret)
	for _, keys := range taken {
		s.withheld = append(s.withheld, withheld{file: file, keys: keys, above: len(s.layers)})
	}
	return kept
}

// sift separates the values for which secret is true, and returns their paths. A list is one value. An empty value is
// never secret.
func sift(above []string, values map[string]any, secret secretTest) (kept map[string]any, taken [][]string) {
	kept = map[string]any{}
	for _, key := range sortedKeys(values) {
		keys, value := append(slices.Clone(above), key), values[key]
		nested, isMap := value.(map[string]any)
		switch {
		case isMap && len(nested) > 0:
			nestedKept, nestedTaken := sift(keys, nested, secret)
			if len(nestedKept) > 0 {
				kept[key] = nestedKept
			}
			taken = append(taken, nestedTaken...)
		case !isEmpty(value) && secret(keys, value):
			taken = append(taken, keys)
		default:
			kept[key] = value
		}
	}
	return kept, taken
}

func isEmpty(value any) bool {
	list, isList := value.([]any)
	nested, isMap := value.(map[string]any)
	return value == nil || value == "" || isList && len(list) == 0 || isMap && len(nested) == 0
}

// isSecret is for files that others may read: a value with the name of a secret is secret. Of proxies, only a login is.
func isSecret(keys []string, value any) bool {
	if _, isBool := value.(bool); isBool {
		return false
	}
	if text, isText := value.(string); isText && keys[0] == "proxies" {
		return strings.Contains(text, "@")
	}
	return slices.ContainsFunc(keys, Secret) || hasSecret(value)
}

// anySecret is for files whose whole content is secret.
func anySecret([]string, any) bool { return true }

// withoutOwnSecrets returns the documents of another folder's kustomization without its own secrets. Those of its
// built-in base stay. Its layers begin at first.
func (s *substituter) withoutOwnSecrets(file string, first int, docs documents) documents {
	unless := func(secret secretTest) secretTest {
		return func(keys []string, value any) bool {
			return secret(keys, value) && !slices.ContainsFunc(s.layers[first:], func(l layer) bool {
				builtIn, there := below(l.values, keys)
				return l.builtIn && there && reflect.DeepEqual(builtIn, value)
			})
		}
	}
	return documents{
		values:       s.withhold(file, docs.values, unless(isSecret)),
		secrets:      s.withhold(file, docs.secrets, unless(anySecret)),
		infraSecrets: s.withhold(file, docs.infraSecrets, unless(anySecret)),
	}
}

// lackSecrets reports the withheld secrets that neither an overriding file nor the user gives.
func (s *substituter) lackSecrets(argument string, files []layer, user map[string]any) error {
	lacks := map[string][]string{}
	for _, w := range s.withheld {
		replaced := func(l layer) bool { return replaces(l.values, w.keys) }
		given := replaces(user, w.keys) || slices.ContainsFunc(files[w.above:], replaced)
		if path := strings.Join(w.keys, "."); !given && !slices.Contains(lacks[w.file], path) {
			lacks[w.file] = append(lacks[w.file], path)
		}
	}
	var problems []error
	for _, file := range sortedKeys(lacks) {
		hint := fmt.Sprintf("Write these values into %s, \"\" for none, or use a file that has them with --values.",
			filepath.Join(argument, OwnSecretsFile))
		problems = append(problems, fault.Wrap(withheldError{file, lacks[file]}, fault.EnvironmentInvalid, hint))
	}
	return fault.Join(problems...)
}

// replaces reports whether values override what is at a path: they have it, or no map above it.
func replaces(values map[string]any, keys []string) bool {
	for i, key := range keys {
		value, there := values[key]
		if !there {
			return false
		}
		nested, isMap := value.(map[string]any)
		if i == len(keys)-1 || !isMap {
			return true
		}
		values = nested
	}
	return false
}
