package up

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// The page says what a person does about each refusal. A row has the words of a refusal. A second row says why the
// management cluster counts although it is silent.
func TestThePageSaysWhatToDo(t *testing.T) {
	rows, because := refusalRows(t)
	for where, refusal := range refusals() {
		if !anyMatches(rows, refusal.Error()) {
			t.Errorf("%s: the page has no row for %q", where, refusal)
		}
		if strings.Contains(refusal.Error(), "the management cluster demo does not answer") &&
			!anyMatches(because, refusal.Error()) {
			t.Errorf("%s: the page does not say what to do about %q", where, refusal)
		}
	}
}

// Each row of the page has a refusal in the code.
func TestThePageHasNoOtherRefusals(t *testing.T) {
	said := literals(t, "..")
	// These are messages of the API server and of crypto/x509.
	said = append(said, "Unauthorized, or forbidden", "certificate has expired")
	rows, because := refusalRows(t)
	for _, row := range append(rows, because...) {
		for _, words := range row {
			if !anyMatches([]alternatives{{words}}, said...) {
				t.Errorf("no message says %q", words)
			}
		}
	}
}

// refusals returns the refusals of verdicts, by what was observed. The observer itself refuses another cluster.
func refusals() map[string]error {
	all := map[string]error{}
	for _, b := range []clusters.BootstrapState{clusters.BootstrapAbsent, clusters.BootstrapUnfinished,
		clusters.BootstrapStopped,
		clusters.BootstrapSilent,
		clusters.BootstrapEmpty, clusters.BootstrapMoved, clusters.BootstrapActive, clusters.BootstrapPaused} {
		for _, m := range []clusters.ManagementState{clusters.ManagementAbsent, clusters.ManagementSilent,
			clusters.ManagementEmpty,
			clusters.ManagementActive, clusters.ManagementPaused} {
			for name, change := range changedWorlds() {
				o := seen(b, m)
				change(&o)
				if v := judge(o, thisRun); v.decision == refuse && fault.CodeOf(v.refusal) != fault.ClusterForeign {
					all[fmt.Sprintf("bootstrap cluster %s, management cluster %s, %s", b, m, name)] = v.refusal
				}
			}
		}
	}
	return all
}

func changedWorlds() map[string]func(*clusters.Observation) {
	return map[string]func(*clusters.Observation){
		"nothing else":        func(*clusters.Observation) {},
		"a machine":           machines(provider.Machine{Name: "demo-abc"}),
		"machines unknown":    notChecked(errors.New("503")),
		"nobody can be asked": notChecked(provider.ErrNotSupported),
		"suspended":           func(o *clusters.Observation) { o.Bootstrap.Suspended = true },
		"unproven":            func(o *clusters.Observation) { o.Management.Proven = false },
		"a backup":            func(o *clusters.Observation) { o.LocalEvidence.Backup = "/state/demo-1" },
		"traces unknown":      func(o *clusters.Observation) { o.LocalEvidence.Err = errors.New("permission denied") },
		"going down":          func(o *clusters.Observation) { o.Bootstrap.TeardownRequested = true },
		"leftovers":           func(o *clusters.Observation) { o.Bootstrap.Holds.Objects = o.Management.Holds.Objects },
		"something that answers": func(o *clusters.Observation) {
			o.Management.Err = apierrors.NewUnauthorized(
				"Unauthorized")
		},
	}
}

// alternatives are the words of one row.
type alternatives []string

// refusalRows reads the table of docs/operate/refusals.md. more are the rows that add to the row above them.
func refusalRows(t *testing.T) (rows, more []alternatives) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operate/refusals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| it says | do |\n|---|---|\n")
	if !found {
		t.Fatal("the page has no such table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n") {
		says, _, _ := strings.Cut(strings.Trim(line, "| "), " | ")
		rest, isMore := strings.CutPrefix(says, "... ")
		if isMore {
			more = append(more, strings.Split(rest, ", or "))
		} else {
			rows = append(rows, strings.Split(says, ", or "))
		}
	}
	return rows, more
}

var placeholder = regexp.MustCompile(`\bX\b`)

// anyMatches reports whether one of texts contains the words of a row. X matches anything.
func anyMatches(rows []alternatives, texts ...string) bool {
	for _, row := range rows {
		for _, words := range row {
			pattern := regexp.MustCompile(placeholder.ReplaceAllString(regexp.QuoteMeta(words), ".*"))
			for _, text := range texts {
				if pattern.MatchString(text) {
					return true
				}
			}
		}
	}
	return false
}

// literals returns the texts in the code below a folder.
func literals(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, is := node.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					all = append(all, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
