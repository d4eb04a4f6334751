package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// restoreLine is the output of `restore`.
type restoreLine struct {
	Type     string
	Path     string
	Target   string // the file of its kubeconfig
	in       restore.Input
	restored bool
	result   restore.Result
	adoption restore.Adoption
}

// MarshalJSON writes the output for programs.
func (l restoreLine) MarshalJSON() ([]byte, error) {
	of := l.in.Backup.Manifest
	return json.Marshal(struct {
		Type       string          `json:"type"`
		Path       string          `json:"path"`
		Namespace  string          `json:"namespace"`
		Cluster    string          `json:"cluster"`
		Already    bool            `json:"already"`
		Objects    int             `json:"objects"`
		Clusters   []string        `json:"clusters"`
		References []string        `json:"references"`
		Releases   []string        `json:"releases"`
		Suspended  []suspendedLine `json:"suspended,omitempty"`
		Warnings   []string        `json:"warnings"`
		Available  bool            `json:"available"`
		WaitingFor []string        `json:"waitingFor"`
		Made       []string        `json:"machinesMade"`
		Gone       []string        `json:"machinesGone"`
	}{l.Type, l.Path, of.Namespace, of.Cluster, l.result.Already, l.result.Objects, names(l.result.Clusters),
		names(l.result.References), names(l.result.Releases), suspendedLines(l.result.Suspended),
		list(l.result.Warnings), len(l.adoption.Unmet) == 0, names(l.adoption.Unmet), list(l.adoption.Made),
		list(l.adoption.Gone)})
}

// names returns a list that is never null in JSON.
func names[T fmt.Stringer](all []T) []string {
	texts := []string{}
	for _, each := range all {
		texts = append(texts, each.String())
	}
	return texts
}

func list(texts []string) []string { return append([]string{}, texts...) }

// Print writes the result, for a person.
func (l restoreLine) Print(out io.Writer) error {
	var b strings.Builder
	of := l.in.Backup.Manifest
	done := "restored from"
	if l.result.Already {
		done = "is already restored from"
	}
	oneline.Fprintf(&b, "Cluster %s/%s %s %s\n", of.Namespace, of.Cluster, done, l.Path)
	oneline.Fprintf(&b, "  %d objects are on the target; active: %s\n", l.result.Objects,
		or(names(l.result.Clusters), "none"))
	section(&b, "references that were created", names[capi.Object](l.result.References))
	section(&b, "values and releases of workload clusters that were created",
		names[capi.Object](l.result.Releases))
	section(&b, "warnings", l.result.Warnings)
	printSuspended(&b, l.result.Suspended)
	section(&b, "waiting for", names(l.adoption.Unmet))
	section(&b, "Machines that the backup does not have", l.adoption.Made)
	section(&b, "Machines of the backup that are gone", l.adoption.Gone)
	if of.Count(backup.Environment) > 0 {
		oneline.Fprintf(&b,
			"The section %s was not applied: the target has values of its own (docs/guides/restore.md).\n",
			backup.Environment)
	}
	oneline.Fprintf(&b, "Never start the old management cluster %s again: both would manage the same "+
		"machines (docs/guides/restore.md).\n", of.Cluster)
	_, err := io.WriteString(out, b.String())
	return err
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	oneline.Fprintf(b, "  %s:\n", title)
	for _, each := range lines {
		oneline.Fprintf(b, "    %s\n", each)
	}
}

func or(texts []string, none string) string {
	if len(texts) == 0 {
		return none
	}
	return strings.Join(texts, ", ")
}
