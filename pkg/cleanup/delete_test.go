package cleanup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const image = "cluster-init.io/registry:1234"

func everything(file string) cleanup.Plan {
	plan := cleanup.Plan{LeftAlone: []cleanup.Item{{Where: cleanup.InDocker, Kind: cleanup.Machine, Name: "foreign"}}}
	for _, i := range []cleanup.Item{
		{Kind: cleanup.BootstrapNode, Name: "node"}, {Kind: cleanup.Machine, Name: "machine"},
		{Kind: cleanup.Registry, Name: "registry"},
		{Kind: cleanup.Volume, Name: "volume"}, {Kind: cleanup.Image, Name: image},
		{Kind: cleanup.Network, Name: "kind", ID: "kind"},
	} {
		i.Where = cleanup.InDocker
		plan.Delete = append(plan.Delete, i)
	}
	plan.Delete = append(plan.Delete, cleanup.Item{Where: cleanup.InFiles, Kind: cleanup.File, Name: file})
	return plan
}

func TestDelete(t *testing.T) {
	refuses := errors.New("the engine refuses")
	gone := fmt.Errorf("remove: %w", docker.ErrNotFound)
	all := []string{"container node", "container machine", "container registry", "volume volume", "image " + image,
		"network kind"}
	without := func(what ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(what, s) })
	}
	tests := map[string]struct {
		engine fakeEngine
		want   []string
		gone   int
		kept   string   // the reason why the image is kept; empty if it is not
		failed []string // items that the error names
	}{
		"everything": {want: all},
		"what is gone already is no error": {
			engine: fakeEngine{fails: map[string]error{"remove container machine": gone, "remove volume volume": gone}},
			want:   without("container machine", "volume volume"), gone: 2},
		"it goes on after a failure and reports it": {
			engine: fakeEngine{fails: map[string]error{"remove container machine": refuses}},
			want:   without("container machine"), failed: []string{"machine machine"}},
		"it reports all failures": {
			engine: fakeEngine{fails: map[string]error{"remove container node": refuses,
				"remove network kind": refuses}},
			want: without("container node", "network kind"), failed: []string{"bootstrap-node node", "network kind"}},
		"an image that another environment's registry runs stays": {
			engine: fakeEngine{fails: map[string]error{"remove image " + image: refuses},
				containers: map[string]docker.Container{"other-registry": registry("other")}},
			want: without("image " + image), kept: "registry other-registry uses it"},
		"an image that the cluster's registry still runs": {
			engine: fakeEngine{fails: map[string]error{"remove image " + image: refuses,
				"remove container registry": refuses},
				containers: map[string]docker.Container{"registry": registry("a")}},
			want:   without("container registry", "image "+image),
			failed: []string{"registry registry", "image " + image}},
		"an image that nobody runs and that cannot be deleted": {
			engine: fakeEngine{fails: map[string]error{"remove image " + image: refuses}},
			want:   without("image " + image), failed: []string{"image " + image}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "state")
			if err := os.MkdirAll(filepath.Join(file, "backup"), 0o700); err != nil {
				t.Fatal(err)
			}
			var told, failed []string
			cleaner := cleanup.Cleaner{Engine: &tc.engine, OnResult: func(r cleanup.Result) {
				told = append(told, r.Name)
				if r.Outcome == cleanup.CouldNot && r.Kind != cleanup.File {
					failed = append(failed, string(r.Kind)+" "+r.Name)
				}
			}}
			plan := everything(file)
			plan.Cluster = "a"
			receipt, err := cleaner.Run(t.Context(), plan)
			if !slices.Equal(tc.engine.deleted, tc.want) {
				t.Errorf("deleted %q\nwant    %q", tc.engine.deleted, tc.want)
			}
			if len(told) != 7 || !slices.Equal(failed, tc.failed) || len(receipt.AlreadyGone) != tc.gone {
				t.Errorf("told of %q, of which failed %q; receipt %+v", told, failed, receipt)
			}
			var kept []string
			for _, r := range receipt.Kept {
				kept = append(kept, r.Reason)
			}
			wantDeleted := len(tc.want)
			if len(tc.failed) == 0 {
				wantDeleted++ // the folder
			}
			if strings.Join(kept, "; ") != tc.kept || len(receipt.Deleted) != wantDeleted {
				t.Errorf("kept %q, want %q; receipt %+v", kept, tc.kept, receipt)
			}
			if _, err := os.Stat(file); (err == nil) != (len(tc.failed) > 0) { // it stays while anything is left
				t.Errorf("the folder: %v", err)
			}
			if (err != nil) != (len(tc.failed) > 0) {
				t.Fatalf("error %v", err)
			}
			for _, item := range tc.failed {
				if !strings.Contains(err.Error(), "deleting "+item) || fault.CodeOf(err) != fault.CleanupFailed ||
					!fault.CanRetry(err) {
					t.Errorf("error %v of code %s does not name %s", err, fault.CodeOf(err), item)
				}
			}
		})
	}
}

// A provider creates a container between the plan and the deletion of the bootstrap cluster.
func TestWhatIsMadeAtTheEndGoesToo(t *testing.T) {
	marker := owned.Marker("a")
	engine := &fakeEngine{containers: nodes(marker)}
	engine.removed = func(what string) {
		if what == "container a-bootstrap-control-plane" {
			engine.containers["a-lb"] = docker.Container{Labels: map[string]string{kind.ClusterLabel: "a",
				kind.RoleLabel: kind.LoadBalancerRole}}
		}
	}
	cleaner := cleanup.Cleaner{Engine: engine, Target: cleanup.Target{Namespace: "ns", Cluster: "a"}}
	plan, err := cleaner.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cleaner.Run(t.Context(), plan); err != nil || !slices.Contains(engine.deleted, "container a-lb") {
		t.Errorf("deleted %q, %v", engine.deleted, err)
	}
	t.Run("and nobody can say what was", func(t *testing.T) {
		engine := &fakeEngine{containers: nodes(marker)}
		engine.removed = func(string) { engine.fails = map[string]error{"volumes": errors.New("the engine is gone")} }
		cleaner.Engine = engine
		if receipt, err := cleaner.Run(t.Context(), plan); err == nil || len(receipt.Unknown) == 0 {
			t.Errorf("%+v, %v", receipt, err)
		}
	})
}

func TestDeleteStopsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	engine := &fakeEngine{}
	receipt, err := cleanup.Cleaner{Engine: engine, OnResult: func(cleanup.Result) { cancel() }}.Run(
		ctx, everything(filepath.Join(t.TempDir(), "state")))
	if fault.CodeOf(err) != fault.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(engine.deleted, []string{"container node"}) || len(receipt.Deleted) != 1 ||
		len(receipt.CouldNot) != 6 {
		t.Errorf("deleted %q after the first; receipt %+v", engine.deleted, receipt)
	}
}

// Files may be needed to delete resources in a cloud that cleanup has no access to. They stay until the user confirms
// that these are gone.
func TestFilesStayForWhatIsElsewhere(t *testing.T) {
	aws := cleanup.Elsewhere{Place: "AWS", Reason: "nobody here can", Hint: "Delete the Cluster there.", Certain: true}
	perhaps := aws
	perhaps.Certain = false
	for name, tc := range map[string]struct {
		elsewhere cleanup.Elsewhere
		forced    bool
		fails     map[string]error
		stays     bool
		hints     []string
	}{
		"nothing is elsewhere": {},
		"its machines are": {elsewhere: aws, stays: true,
			hints: []string{"Delete the Cluster there. When nothing is left there, add --force a."}},
		"the user insists": {elsewhere: aws, forced: true},
		"nobody knows":     {elsewhere: perhaps},
		"something here stays": {elsewhere: aws,
			fails: map[string]error{"remove container a-registry": errors.New("it refuses")}, stays: true,
			hints: []string{"Delete the Cluster there.", "Run the same command again: it deletes what is left."}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			engine := &fakeEngine{fails: tc.fails, containers: map[string]docker.Container{"a-registry": registry("a")}}
			c := cleanup.Cleaner{Engine: engine, Target: cleanup.Target{Cluster: "a", Files: []string{file},
				Elsewhere: tc.elsewhere}, Forced: tc.forced}
			plan, err := c.Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if asked := len(plan.Unknown) > 0; asked != tc.stays || tc.elsewhere.Place != "" && len(plan.LeftAlone)+
				len(plan.Unknown) != 1 {
				t.Errorf("unknown %v, left alone %v", plan.Unknown, plan.LeftAlone)
			}
			_, err = c.Run(t.Context(), plan)
			if _, gone := os.Stat(file); (gone == nil) != tc.stays ||
				(fault.CodeOf(err) == fault.CleanupFailed) != tc.stays {
				t.Errorf("file: %v, error %v", gone, err)
			}
			if len(tc.fails) == 0 && !slices.Contains(engine.deleted, "container a-registry") {
				t.Errorf("deleted %v", engine.deleted)
			}
			if got := strings.Count(fault.HintOf(err), "\n") + 1; err != nil &&
				(got != len(tc.hints) || fault.CanRetry(err)) {
				t.Errorf("%d hints: %q, retry %v", got, fault.HintOf(err), fault.CanRetry(err))
			}
			for _, want := range tc.hints {
				if !strings.Contains(fault.HintOf(err), want) {
					t.Errorf("hint %q does not say %q", fault.HintOf(err), want)
				}
			}
		})
	}
}

// An interrupted run may have deleted the bootstrap cluster, the only proof that no pivot was begun. The next run needs
// --force, and the hint says so.
func TestTheNextRunMayNeedForce(t *testing.T) {
	for name, tc := range map[string]struct {
		fails  string
		forced bool
		says   bool
	}{
		"the bootstrap cluster is gone":     {"remove container machine", false, true},
		"the bootstrap cluster is there":    {"remove container node", false, false},
		"the user insisted, and will again": {"remove container machine", true, false},
	} {
		engine := &fakeEngine{fails: map[string]error{tc.fails: errors.New("it refuses")}}
		plan := everything(filepath.Join(t.TempDir(), "state"))
		plan.Cluster = "a"
		_, err := cleanup.Cleaner{Engine: engine, Forced: tc.forced}.Run(t.Context(), plan)
		if says := strings.Contains(fault.HintOf(err), "It may need --force a then"); says != tc.says ||
			!strings.HasPrefix(fault.HintOf(err), "Run the same command again") {
			t.Errorf("%s: %q", name, fault.HintOf(err))
		}
	}
}
