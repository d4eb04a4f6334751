package diagnose

import (
	"fmt"
	"io"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// maxMessage is the maximum length of a printed message in characters.
const maxMessage = 600

// Print writes a report for a person: for each cause the remedy first, then the observation.
func (r Report) Print(out io.Writer) error {
	b := &strings.Builder{}
	for _, f := range r.Findings {
		printFinding(b, f)
	}
	if len(r.Waiting) > 0 {
		oneline.Fprintf(b, "Not ready, cause not known:\n")
		for _, f := range r.Waiting {
			oneline.Fprintf(b, "  %s%s: %s\n", f.Object, clusterSuffix(f), orElse(oneline.Of(f.Message, maxMessage),
				"progressing"))
			printChain(b, f)
		}
		fmt.Fprintln(b)
	}
	if len(r.NotChecked) > 0 {
		oneline.Fprintf(b, "Not checked:\n")
		for _, what := range r.NotChecked {
			oneline.Fprintf(b, "  %s\n", oneline.Of(what, maxMessage))
		}
		fmt.Fprintln(b)
	}
	oneline.Fprintf(b, "%s\n", r.summary())
	_, err := io.WriteString(out, b.String())
	return err
}

func (r Report) summary() string {
	where := "No cluster answers"
	if len(r.Clusters) > 0 {
		where = "Checked the " + strings.Join(r.Clusters, " and the ") + " cluster"
	}
	switch {
	case len(r.Findings) > 0:
		return fmt.Sprintf("%s: %s found.", where, oneline.Count(len(r.Findings), "cause"))
	case len(r.Waiting) > 0 || len(r.Clusters) == 0:
		return where + ": no cause found."
	case len(r.NotChecked) > 0:
		return where + ": no problem found in what was checked."
	}
	return where + ": healthy."
}

func printFinding(b *strings.Builder, f Finding) {
	oneline.Fprintf(b, "✗ %s\n", oneline.Of(f.Cause, maxMessage))
	oneline.Fprintf(b, "    remedy:     %s\n", oneline.Of(f.Remedy, maxMessage))
	confidence := string(f.Confidence)
	if f.Confidence == readiness.LowConfidence {
		confidence += "; the message can have another cause"
	}
	if f.Transient {
		confidence += "; it can go away by itself"
	}
	if f.Severity == readiness.Warning {
		confidence += "; nothing waits for it yet"
	}
	oneline.Fprintf(b, "    confidence: %s\n", confidence)
	oneline.Fprintf(b, "    object:     %s%s\n", f.Object, clusterSuffix(f))
	if f.Message != "" && !strings.Contains(f.Cause, f.Message) {
		oneline.Fprintf(b, "    seen:       %s\n", oneline.Of(f.Message, maxMessage))
	}
	for _, line := range f.Log {
		oneline.Fprintf(b, "    log:        %s\n", oneline.Of(line, maxMessage))
	}
	printChain(b, f)
	if len(f.Delays) > 0 {
		oneline.Fprintf(b, "    delays:     %s\n", strings.Join(f.Delays, ", "))
	}
	fmt.Fprintln(b)
}

// printChain prints the path from the object to the cause.
func printChain(b *strings.Builder, f Finding) {
	if len(f.Chain) < 2 {
		return
	}
	var names []string
	for _, link := range f.Chain {
		names = append(names, link.Object)
	}
	oneline.Fprintf(b, "    waits:      %s\n", strings.Join(names, " → "))
}

// clusterSuffix names the cluster of a finding, if it has one.
func clusterSuffix(f Finding) string {
	if f.Cluster == "" {
		return ""
	}
	return " (" + f.Cluster + " cluster)"
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
