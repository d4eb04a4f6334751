package up

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

const refusalsPage = "../../docs/operate/refusals.md"

// The first table of docs/operate/refusals.md is made from the verdicts: go test ./pkg/up -run Page -update
func TestRefusalsOfThePage(t *testing.T) {
	byHint := map[string][]string{}
	for _, refusal := range refusals() {
		hint := fault.HintOf(refusal)
		if message := refusal.Error(); !slices.Contains(byHint[hint], message) {
			byHint[hint] = append(byHint[hint], message)
		}
	}
	var groups [][]string // messages, and their hint at the end
	for hint, messages := range byHint {
		slices.Sort(messages)
		groups = append(groups, append(messages, hint))
	}
	slices.SortFunc(groups, slices.Compare[[]string])
	var rows []string
	for _, group := range groups {
		for _, message := range group[:len(group)-1] {
			rows = append(rows, "| "+cell(message)+" | "+cell(group[len(group)-1])+" |")
		}
	}
	golden.Table(t, refusalsPage, "| the verdict of `up` says | do |", rows)
}

// The second table is made from the list otherRefusals.
func TestOtherRefusalsOfThePage(t *testing.T) {
	formats := literals(t, "..")
	var rows []string
	for _, r := range otherRefusals {
		if !slices.ContainsFunc(formats, func(f string) bool {
			return strings.HasPrefix(f, r.format) || len(f) > 25 && strings.Contains(r.format, f)
		}) {
			t.Errorf("no message of the code is %q", r.format)
		}
		said := fmt.Errorf(r.format, r.args...).Error()
		rows = append(rows, "| "+cell(said)+" | "+r.do+" |")
	}
	golden.Table(t, refusalsPage, "| another check says | do |", rows)
}

func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

// otherRefusals are the refusals of what `up` asks before and after its verdict: the format in the code, values for it,
// and what a person does.
var otherRefusals = []struct {
	format string // in the code; it may be a part of this one
	args   []any
	do     string
}{
	{"server %s may be a machine of %s/%s", []any{"demo-abc", "ns", "demo"},
		"if the server belongs to this cluster, tag it with the command in the hint (never ran). If not, use another " +
			"`cluster.name`"},
	{"a kind cluster %s exists that cluster-init did not make", []any{"demo-bootstrap"},
		"run `kind delete cluster --name demo-bootstrap`, or use another `cluster.name`"},
	{"container %s is a node of a cluster %s that cluster-init did not make", []any{"demo-abc", "demo"},
		"delete that cluster, or use another `cluster.name`"},
	{"an earlier run made the kind cluster %s, and this run uses another bootstrap cluster", []any{"demo-bootstrap"},
		"leave out `--bootstrap-kubeconfig`, or run `cluster-init cleanup ENV` first"},
	{"kind has not finished the bootstrap cluster, and another run, of another user or machine, may be making it " +
		"since %s", []any{"12:00:00"},
		"wait until that run ends. If there is no such run, run `cluster-init cleanup ENV`"},
	{"kind lists the cluster %s, and its node %s is not found", []any{"demo-bootstrap", "demo-bootstrap-control-plane"},
		"wait until the run that makes it ends. If there is no such run, use another `cluster.name`"},
	{"the bootstrap cluster holds %s, which cluster-init did not make", []any{"Cluster ns/demo"},
		"use another `cluster.name`"},
	{"%s is the kubeconfig of another cluster than %s", []any{"the file kubeconfig", "the Secret demo-kubeconfig"},
		"use another `--kubeconfig` file, or another `cluster.name`"},
	{"the %s holds %s, and this run uses namespace %s", []any{"management cluster", "Cluster ns/demo", "default"},
		"add `--set cluster.namespace=` with the namespace that the cluster was built with"},
	{"%s was started and stopped again at once", []any{"demo-abc"}, "read `docker logs demo-abc`"},
	{"the bootstrap cluster is kept, as it holds more than %s: %s", []any{"demo", "Cluster ns/shop"},
		"move or delete the other Clusters (deleting deletes their machines), or add `--keep-bootstrap`"},
	{"%s holds the lock on %s, since %s", []any{"alice@host (42)", "the management cluster", "2026-01-01 12:00:00"},
		"wait until that run ends ([one at a time](../design/how-it-works.md#one-at-a-time))"},
	{"%s has taken over the lock on %s", []any{"alice@host (42)", "the management cluster"},
		"wait until that run ends"},
	{"take the Lease %s/%s in %s: %w", []any{"kube-system", "cluster-init-ns-demo", "the management cluster",
		errors.New("forbidden")}, "allow get, create and update of leases in `kube-system`"},
	{"the Lease %s/%s in %s could not be renewed for %s: %w", []any{"kube-system", "cluster-init-ns-demo",
		"the management cluster", "20s", errors.New("i/o timeout")},
		"run the same command again when that API server answers"},
	{"the clusters changed while this run was working: %s", []any{"nothing of it exists: a fresh start"},
		"if another run works on the clusters, wait until it ends. Then run the same command again"},
	{"compare with the values that the last run gave the %s cluster: %w", []any{"management",
		errors.New("i/o timeout")},
		"if the values in the cluster cannot be read now, run the same command again later. If they are not YAML, " +
			"correct them as the hint says"},
	{"this run would remove, replace or downgrade parts of the cluster: %s", []any{"cluster.worker.replicas (...)"},
		"use the values of the last run, or add `--allow-changes KEY`"},
	{"an earlier move did not end as planned: %s", []any{"Cluster ns/demo is still paused on the target"},
		"compare the management cluster with the backup that the hint names"},
}

// refusals returns the refusals of verdicts, by what was observed. The observer itself refuses another cluster.
func refusals() map[string]error {
	all := map[string]error{}
	run := thisRun
	run.environment = "ENV"
	run.source = clusters.Side{Kubeconfig: "/state/bootstrap.kubeconfig"}
	run.target = clusters.Side{Kubeconfig: "/state/kubeconfig"}
	for _, b := range []clusters.BootstrapState{clusters.BootstrapAbsent, clusters.BootstrapUnfinished,
		clusters.BootstrapStopped, clusters.BootstrapSilent, clusters.BootstrapEmpty, clusters.BootstrapMoved,
		clusters.BootstrapActive, clusters.BootstrapPaused} {
		for _, m := range []clusters.ManagementState{clusters.ManagementAbsent, clusters.ManagementSilent,
			clusters.ManagementEmpty, clusters.ManagementActive, clusters.ManagementPaused} {
			for name, change := range changedWorlds() {
				o := seen(b, m)
				change(&o)
				if v := judge(o, run); v.decision == refuse && fault.CodeOf(v.refusal) != fault.ClusterForeign {
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
		"paused by hand": func(o *clusters.Observation) {
			o.Bootstrap.Holds.Clusters = slices.Clone(o.Bootstrap.Holds.Clusters)
			for i := range o.Bootstrap.Holds.Clusters {
				o.Bootstrap.Holds.Clusters[i].Annotations = nil
			}
		},
		"unproven":       func(o *clusters.Observation) { o.Management.Proven = false },
		"a backup":       func(o *clusters.Observation) { o.LocalEvidence.Backup = "/state/demo-1" },
		"traces unknown": func(o *clusters.Observation) { o.LocalEvidence.Err = errors.New("permission denied") },
		"engine unknown": func(o *clusters.Observation) {
			o.Bootstrap.NotChecked = o.Bootstrap.State == clusters.BootstrapSilent
		},
		"going down": func(o *clusters.Observation) { o.Bootstrap.TeardownRequested = true },
		"leftovers":  func(o *clusters.Observation) { o.Bootstrap.Holds.Objects = o.Management.Holds.Objects },
		"something that answers": func(o *clusters.Observation) {
			o.Management.Err = apierrors.NewUnauthorized("Unauthorized")
		},
	}
}

// literals returns the texts in the code below a folder, those that are added together as one.
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
			expression, is := node.(ast.Expr)
			if text := literal(expression); is && text != "" {
				all = append(all, text)
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

// literal returns the text of a literal, or of literals that are added, up to the first part that is none.
func literal(node ast.Expr) string {
	switch node := node.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(node.Value)
		if node.Kind == token.STRING && err == nil {
			return text
		}
	case *ast.BinaryExpr:
		if node.Op == token.ADD {
			return literal(node.X) + literal(node.Y)
		}
	}
	return ""
}
