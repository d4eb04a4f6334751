package cli

import (
	"strings"

	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// suspendedLine is a suspended release in the output of `restore` for programs.
type suspendedLine struct {
	Release string       `json:"release"`
	Sources []sourceLine `json:"sources"`
	Resume  string       `json:"resume"`
}

type sourceLine struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

func suspendedLines(all []restore.Suspended) []suspendedLine {
	var lines []suspendedLine
	for _, s := range all {
		line := suspendedLine{Release: s.Release.String(), Sources: []sourceLine{}, Resume: s.Resume}
		for _, source := range s.Sources {
			line.Sources = append(line.Sources, sourceLine{source.Object.String(), source.URL})
		}
		lines = append(lines, line)
	}
	return lines
}

// printSuspended prints what to read before you resume each release, and the command for it. The URLs come from the
// backup: they are quoted.
func printSuspended(b *strings.Builder, all []restore.Suspended) {
	if len(all) == 0 {
		return
	}
	b.WriteString("  suspended releases of workload clusters. Before you resume one, read its values, and check that " +
		"the URL of each source is yours:\n")
	for _, s := range all {
		oneline.Fprintf(b, "    %s\n", s.Release)
		for _, source := range s.Sources {
			oneline.Fprintf(b, "      %s: %q\n", source.Object, source.URL)
		}
		oneline.Fprintf(b, "      to resume: %s\n", s.Resume)
	}
}
