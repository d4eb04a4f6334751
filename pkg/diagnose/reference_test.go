package diagnose

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// docs/reference/rules.md is made from the rules: go test ./pkg/diagnose -run Reference -update
func TestReferenceOfRules(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Rules of diagnose\n\nMade from the rules; a test compares it. An ellipsis stands for what the "+
		"message says. *Low* means that another cause is\npossible, *transient* that it may go away by itself. "+
		"[Health checks](../design/diagnosis.md#ready-is-not-healthy) have names\nof their own.\n")
	part := regexp.MustCompile(`\$\{[^}]*\}`)
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;")
	group := ""
	rules := readRules(t)
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	for _, rule := range rules {
		first, _, _ := strings.Cut(rule.Name, "-")
		if first != group {
			group = first
			fmt.Fprintf(&b, "\n## %s\n\n| rule | cause | remedy | |\n|---|---|---|---|\n", group)
		}
		var marks []string
		if rule.Confidence == "low" {
			marks = append(marks, "low")
		}
		if rule.Transient {
			marks = append(marks, "transient")
		}
		text := func(s string) string { return strings.TrimSpace(cell.Replace(part.ReplaceAllString(s, "…"))) }
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", rule.Name, text(rule.Cause), text(rule.Remedy),
			strings.Join(marks, ", "))
	}
	golden.Check(t, "../../../docs/reference/rules.md", b.Bytes())
}
