package cli

import (
	"encoding/json"
	"io"
	"text/tabwriter"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// printOrigins writes a line for each value: its path, the value as JSON, and where it is from.
func printOrigins(out io.Writer, origins []environment.Origin) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, o := range origins {
		value, err := json.Marshal(o.Value)
		if err != nil {
			return err
		}
		oneline.Fprintf(table, "%s\t%s\t%s\n", o.Path, value, o.From)
	}
	return table.Flush()
}
