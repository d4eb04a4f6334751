package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/suggest"
)

func newExplain(streams Streams) *cobra.Command {
	var output outputOptions
	c := &cobra.Command{
		Use:   "explain [KEY]",
		Short: "Explain a value of the chart: purpose, allowed values, default",
		Long: `explain reads the schema of the chart in this binary. Without KEY it lists the values of the first
level. Where you choose a name, such as that of a component, you can use it in KEY:
components.capd.enabled.`,
		Example: `  cluster-init explain cluster.control_plane
  cluster-init explain cluster.openstack.api_server.mode
  cluster-init explain cluster -o json | jq -r '.keys[].path'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.known(); err != nil {
				return err
			}
			key := strings.Join(args, "")
			found, err := explained(key)
			if err != nil {
				return err
			}
			return output.show(streams, found)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeKey(begun)
		},
	}
	output.formatFlag(c.Flags(), "plain: for people; json: one object")
	return c
}

// explained returns a key and the keys directly below it.
func explained(key string) (explanation, error) {
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		return explanation{}, err
	}
	e := explanation{Type: "explanation", SchemaVersion: 1, Keys: []environment.Key{}}
	var names []string
	for _, k := range keys {
		names = append(names, k.Path)
		if rest, ok := k.Below(key); ok && !strings.Contains(rest, ".") {
			e.Keys = append(e.Keys, k)
		}
	}
	if len(e.Keys) > 0 {
		return e, nil
	}
	hint := suggest.Hint(key, names, "cluster-init explain ") + "Run \"cluster-init explain\" to list the values of " +
		"the first level."
	return e, fault.New(fault.Usage, fmt.Sprintf("the chart has no value %q", key), hint)
}

// explanation is the output of `explain`. The first key is the requested one. Without a requested key, all are of the
// first level.
type explanation struct {
	Type          string            `json:"type"`
	SchemaVersion int               `json:"schemaVersion"`
	Keys          []environment.Key `json:"keys"`
}

// Print writes a paragraph for each key.
func (e explanation) Print(out io.Writer) error {
	for _, k := range e.Keys {
		required := ""
		if k.Required {
			required = ", required"
		}
		text := fmt.Sprintf("%s (%s%s)\n", k.Path, k.Type, required)
		for _, line := range []struct{ name, value string }{{"", k.Description},
			{"one of: ", strings.Join(k.Allowed, ", ")}, {"pattern: ", k.Pattern}, {"default: ", standard(k)}} {
			if line.value != "" {
				text += "    " + line.name + line.value + "\n"
			}
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	return nil
}

// standard returns the default of a key in one line. It is empty for a map, whose keys have their own defaults.
func standard(k environment.Key) string {
	if _, isMap := k.Default.(map[string]any); isMap || k.Default == nil {
		return ""
	}
	text, err := json.Marshal(k.Default)
	if err != nil {
		return ""
	}
	return string(text)
}
