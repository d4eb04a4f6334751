package status

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Print writes a report as a table for people.
func (r Report) Print(out io.Writer) error { return r.print(out, false) }

// Wide is a report that prints the messages of all objects, and no text truncated.
type Wide struct{ Report }

// Print writes the report with all details.
func (w Wide) Print(out io.Writer) error { return w.print(out, true) }

func (r Report) print(out io.Writer, wide bool) error {
	var b strings.Builder
	oneline.Fprintf(&b, "%s (Cluster %s): %s\n  %s\n", r.Environment, r.Cluster, r.State,
		oneline.Of(r.Why, messageLimit(wide)))
	printCauses(&b, r.Causes, wide)
	printSide(&b, "bootstrap", r.Bootstrap, wide)
	printSide(&b, "management", r.Management, wide)
	if len(r.Machines) > 0 {
		oneline.Fprintf(&b, "\nmachines: %s\n", strings.Join(r.Machines, ", "))
	}
	if r.MachinesUnknown != "" {
		oneline.Fprintf(&b, "\nmachines not known: %s\n",
			oneline.Of(r.MachinesUnknown, messageLimit(wide)))
	}
	printWorkloadClusters(&b, r.WorkloadClusters, wide)
	printAddress(&b, r.Address)
	printDrift(&b, r.Drift, wide)
	printHealth(&b, r.Health, r.Causes, wide)
	if len(r.Unknown) > 0 {
		oneline.Fprintf(&b, "\nnot known:\n")
		for _, what := range r.Unknown {
			oneline.Fprintf(&b, "  %s\n", oneline.Of(what, messageLimit(wide)))
		}
	}
	printHint(&b, fault.HintOf(r.Err()))
	_, err := io.WriteString(out, b.String())
	return err
}

// printHint prints a hint in the form that hints have below an error.
func printHint(b *strings.Builder, hint string) {
	for i, line := range strings.FieldsFunc(hint, func(r rune) bool { return r == '\n' }) {
		if i == 0 {
			fmt.Fprintln(b)
		}
		oneline.Fprintf(b, "hint:  %s\n", line)
	}
}

// printCauses prints lasting causes first: they need a person.
func printCauses(b *strings.Builder, causes []Cause, wide bool) {
	var lasting, others []Cause
	for _, c := range causes {
		if c.Lasting {
			lasting = append(lasting, c)
		} else {
			others = append(others, c)
		}
	}
	for i, c := range slices.Concat(lasting, others) {
		if i == 0 {
			fmt.Fprintln(b)
		}
		confidence := ""
		if !c.Lasting {
			confidence = "    confidence: low, or the cause may go away by itself\n"
		}
		oneline.Fprintf(b, "%s %s\n    object:     %s\n    remedy:     %s\n%s", c.sign(),
			oneline.Of(c.Cause, causeLimit(wide)),
			c.Object, oneline.Of(c.Remedy, causeLimit(wide)), confidence)
	}
}

// sign returns ✗ for lasting causes, and ? for all others.
func (c Cause) sign() string {
	if c.Lasting {
		return "✗"
	}
	return "?"
}

func printSide(b *strings.Builder, name string, s Side, wide bool) {
	oneline.Fprintf(b, "\n%s cluster: %s", name, s.State)
	if s.Server != "" {
		oneline.Fprintf(b, ", answers at %s", s.Server)
	}
	fmt.Fprintln(b)
	if s.Error != "" {
		oneline.Fprintf(b, "  %s\n", oneline.Of(s.Error, messageLimit(wide)))
	}
	if len(s.Versions) > 0 {
		var versions []string
		for _, what := range slices.Sorted(maps.Keys(s.Versions)) {
			versions = append(versions, what+" "+s.Versions[what])
		}
		oneline.Fprintf(b, "  %s\n", strings.Join(versions, ", "))
	}
	if len(s.Objects) == 0 {
		return
	}
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	oneline.Fprintf(table, "  KIND\tNAME\tSTATE\tVERSION\tMESSAGE\n")
	for _, o := range s.Objects {
		message := o.Message
		if o.State == health.Ready && !wide {
			message = ""
		}
		oneline.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", o.Kind, o.Name, o.State, short(o.Version),
			oneline.Ends(message, messageLimit(wide)))
	}
	_ = table.Flush() // a strings.Builder returns no errors
}

// short truncates a digest.
func short(version string) string {
	if before, digest, found := strings.Cut(version, "sha256:"); found && len(digest) > 12 {
		return before + "sha256:" + digest[:12]
	}
	return version
}

// maxMessageLength is the maximum length of a printed message in characters.
const maxMessageLength = 100

// messageLimit is the maximum length of a printed message. Zero means no limit.
func messageLimit(wide bool) int {
	if wide {
		return 0
	}
	return maxMessageLength
}

// causeLimit is the maximum length of a cause or a remedy. These are longer than messages in a table.
func causeLimit(wide bool) int { return 3 * messageLimit(wide) }

// Changes lists what changed since the earlier report, one line each: the state, new causes, the states of the
// clusters, and objects that are new, changed, or no longer in the report.
func (r Report) Changes(earlier Report, at time.Time) []string {
	var lines []string
	line := func(format string, args ...any) {
		lines = append(lines, at.Format("15:04:05")+"  "+oneline.Sprintf(format, args...))
	}
	if r.State != earlier.State || r.Why != earlier.Why {
		line("%s: %s", r.State, oneline.Of(r.Why, maxMessageLength))
	}
	for _, c := range r.Causes {
		if !slices.Contains(earlier.Causes, c) {
			line("%s %s (%s); remedy: %s", c.sign(), oneline.Of(c.Cause, causeLimit(false)), c.Object,
				oneline.Of(c.Remedy, causeLimit(false)))
		}
	}
	for name, sides := range map[string][2]Side{"bootstrap": {earlier.Bootstrap, r.Bootstrap},
		"management": {earlier.Management, r.Management}} {
		before, now := sides[0], sides[1]
		if before.State != now.State {
			line("%s cluster: %s", name, now.State)
		}
		for _, o := range now.Objects {
			if !slices.Contains(before.Objects, o) {
				line("%s cluster: %s %s %s", name, o, o.State, oneline.Ends(o.Message, maxMessageLength))
			}
		}
		for _, o := range before.Objects {
			if now.State != absent && (now.Server == "" || len(r.Unknown) > 0) {
				break // the cluster did not answer, or a kind could not be listed
			}
			if !slices.ContainsFunc(now.Objects, func(other Object) bool {
				return other.Kind == o.Kind && other.Name == o.Name
			}) {
				line("%s cluster: %s is gone", name, o)
			}
		}
	}
	for _, change := range r.workloadChanges(earlier) {
		line("%s", change)
	}
	slices.Sort(lines)
	return lines
}
