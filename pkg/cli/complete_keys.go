package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// completeSetting completes KEY=VALUE of --set. It completes the key level by level, then the value if the schema lists
// the values.
func completeSetting(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if key, _, valued := strings.Cut(begun, "="); valued {
		return settings(keys, key), cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, k := range nextKeys(keys, begun) {
		found = append(found, cobra.CompletionWithDesc(k.Path+goesOn(keys, k.Path), k.Description))
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeKey completes only a key, level by level.
func completeKey(begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, k := range nextKeys(keys, begun) {
		found = append(found, cobra.CompletionWithDesc(k.Path, k.Description))
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// settings returns key with each of its allowed values, if these are known.
func settings(keys []environment.Key, key string) []cobra.Completion {
	var found []cobra.Completion
	for _, k := range keys {
		if rest, is := k.Below(key); !is || rest != "" {
			continue
		}
		values := k.Allowed
		if k.Type == "boolean" {
			values = []string{"true", "false"}
		}
		for _, value := range values {
			found = append(found, key+"="+value)
		}
	}
	return found
}

// nextKeys returns the keys that begin with begun, on its level. In a map of any names it completes the names of the
// chart's defaults.
func nextKeys(keys []environment.Key, begun string) []environment.Key {
	above := ""
	if at := strings.LastIndex(begun, "."); at >= 0 {
		above = begun[:at]
	}
	var found []environment.Key
	for _, k := range keys {
		rest, is := k.Below(above)
		if !is || rest == "" || strings.Contains(rest, ".") {
			continue
		}
		names := []string{rest}
		if rest == environment.AnyName {
			names = namesAt(keys, above)
		}
		for _, name := range names {
			if k.Path = strings.TrimPrefix(above+"."+name, "."); strings.HasPrefix(k.Path, begun) {
				found = append(found, k)
			}
		}
	}
	return found
}

// namesAt returns the names of the chart's defaults in a map of any names.
func namesAt(keys []environment.Key, path string) []string {
	for _, k := range keys {
		if k.Path == path {
			known, _ := k.Default.(map[string]any)
			return slices.Sorted(maps.Keys(known))
		}
	}
	return nil
}

// goesOn returns the text after a key: "." before a key below it, "[0]." before its first entry, or "=" before its
// value.
func goesOn(keys []environment.Key, path string) string {
	for _, k := range keys {
		switch rest, below := k.Below(path); {
		case !below || rest == "":
		case strings.HasPrefix(rest, "["):
			return "[0]."
		default:
			return "."
		}
	}
	return "="
}
