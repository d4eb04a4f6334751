package cli

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/parts"
)

// versionReport is the output of `version`.
type versionReport struct {
	Type          string `json:"type"` // "version"
	SchemaVersion int    `json:"schemaVersion"`
	buildIdentity
	Installs  []parts.Part `json:"installs"`  // what ends up in clusters
	Libraries []parts.Part `json:"libraries"` // libraries that do the work of command-line tools
}

func newVersion(streams Streams) *cobra.Command {
	var output outputOptions
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary and of every part that it installs",
		Long: `version prints the version, commit and date of this binary, and every part that it installs. It
reads the list from the content of this binary. Where you name a source or a bundle of your own
("up --source", "up --bundle"), up installs the versions of components in it.`,
		Example: "  cluster-init version\n  cluster-init version -o json | jq -r '.installs[] | .name + \" \" + " +
			".version'",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := output.known(); err != nil {
				return err
			}
			info, _ := debug.ReadBuildInfo()
			report, err := newVersionReport(c.Context(), info)
			if err != nil {
				return err
			}
			if output.format == "json" {
				return report.writeJSON(streams.Out)
			}
			return report.writePlain(streams.Out)
		},
	}
	output.formatFlag(c.Flags(), "plain: a table for people; json: one object")
	return c
}

func newVersionReport(ctx context.Context, info *debug.BuildInfo) (versionReport, error) {
	installs, err := installedParts(ctx, clusterinit.Content(), info)
	if err != nil {
		return versionReport{}, err
	}
	return versionReport{Type: "version", SchemaVersion: 1, buildIdentity: identify(info), Installs: installs,
		Libraries: libraryParts(info)}, nil
}

func (r versionReport) writeJSON(w io.Writer) error {
	if err := oneline.WriteJSON(w, r, "  "); err != nil {
		return fmt.Errorf("write the version: %w", err)
	}
	return nil
}

func (r versionReport) writePlain(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "cluster-init\t%s\n", r.Version)
	for _, line := range [][2]string{{"commit", r.Commit}, {"date", r.Date}, {"go", r.Go}, {"platform", r.Platform}} {
		if line[1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", line[0], line[1])
		}
	}
	for _, table := range []struct {
		title string
		parts []parts.Part
	}{{"INSTALLS", r.Installs}, {"BUILT WITH", r.Libraries}} {
		fmt.Fprintf(t, "\n%s\tVERSION\tORIGIN\n", table.title)
		for _, part := range table.parts {
			origin := part.Origin
			if len(part.Environments) > 0 {
				origin += " (" + strings.Join(part.Environments, ", ") + ")"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", part.Name, part.Version, origin)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the version: %w", err)
	}
	return nil
}
