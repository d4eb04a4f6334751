package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// docs/reference/values.md is made from the chart's schema: go test ./pkg/cli -run Reference -update
func TestReferenceOfValues(t *testing.T) {
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprint(&b, "# Values\n\nMade from the schema of the chart; a test compares it. `cluster-init explain KEY` shows "+
		"the same. NAME stands for\na name of your own, `[]` for an entry of a list. A built-in environment may have "+
		"another default: `cluster-init show\nvalues ENV --show-origin`.\n")
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;")
	group := ""
	for _, key := range keys {
		first, _, _ := strings.Cut(key.Path, ".")
		if first = strings.TrimSuffix(first, "[]"); first != group {
			group = first
			fmt.Fprintf(&b, "\n## %s\n\n| value | type | default | what it is for |\n|---|---|---|---|\n", group)
		}
		kind, standard := key.Type, ""
		if len(key.Allowed) > 0 {
			kind = strings.Join(key.Allowed, ", ")
		}
		if _, isMap := key.Default.(map[string]any); !isMap && key.Default != nil {
			text, err := json.Marshal(key.Default)
			if err != nil {
				t.Fatal(err)
			}
			standard = "`" + string(text) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", key.Path, cell.Replace(kind), cell.Replace(standard),
			cell.Replace(key.Description))
	}
	golden.Check(t, "../../../docs/reference/values.md", b.Bytes())
}
