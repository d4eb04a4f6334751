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
)

const image = "cluster-init.io/registry:1234"

func everything(file string) cleanup.Plan {
	plan := cleanup.Plan{LeftAlone: []cleanup.Item{{Where: cleanup.InDocker, Kind: cleanup.Machine, Name: "foreign"}}}
	for _, i := range []cleanup.Item{
		{Kind: cleanup.BootstrapNode, Name: "node"}, {Kind: cleanup.Machine, Name: "machine"}, {Kind: cleanup.Registry, Name: "registry"},
		{Kind: cleanup.Volume, Name: "volume"}, {Kind: cleanup.Image, Name: image}, {Kind: cleanup.Network, Name: "kind"},
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
	all := []string{"container node", "container machine", "container registry", "volume volume", "image " + image, "network kind"}
	without := func(what ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(what, s) })
	}
	tests := map[string]struct {
		engine fakeEngine
		want   []string
		gone   int
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
			engine: fakeEngine{fails: map[string]error{"remove container node": refuses, "remove network kind": refuses}},
			want:   without("container node", "network kind"), failed: []string{"bootstrap-node node", "network kind"}},
		"an image that another environment's registry runs stays": {
			engine: fakeEngine{fails: map[string]error{"remove image " + image: refuses},
				containers: map[string]docker.Container{"other-registry": registry("other")}},
			want: without("image " + image)},
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
			cleaner := cleanup.Cleaner{Engine: &tc.engine, Told: func(r cleanup.Result) {
				told = append(told, r.Name)
				if r.Outcome == cleanup.CouldNot && r.Kind != cleanup.File {
					failed = append(failed, string(r.Kind)+" "+r.Name)
				}
			}}
			receipt, err := cleaner.Run(t.Context(), everything(file))
			if !slices.Equal(tc.engine.deleted, tc.want) {
				t.Errorf("deleted %q\nwant    %q", tc.engine.deleted, tc.want)
			}
			if len(told) != 7 || !slices.Equal(failed, tc.failed) || len(receipt.AlreadyGone) != tc.gone {
				t.Errorf("told of %q, of which failed %q; receipt %+v", told, failed, receipt)
			}
			if _, err := os.Stat(file); (err == nil) != (len(tc.failed) > 0) { // it stays while anything does
				t.Errorf("the folder: %v", err)
			}
			if (err != nil) != (len(tc.failed) > 0) {
				t.Fatalf("error %v", err)
			}
			for _, item := range tc.failed {
				if !strings.Contains(err.Error(), "deleting "+item) || fault.CodeOf(err) != fault.CleanupFailed || !fault.CanRetry(err) {
					t.Errorf("error %v of code %s does not name %s", err, fault.CodeOf(err), item)
				}
			}
		})
	}
}

func TestDeleteStopsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	engine := &fakeEngine{}
	receipt, err := cleanup.Cleaner{Engine: engine, Told: func(cleanup.Result) { cancel() }}.Run(ctx, everything(filepath.Join(t.TempDir(), "state")))
	if fault.CodeOf(err) != fault.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(engine.deleted, []string{"container node"}) || len(receipt.Deleted) != 1 || len(receipt.CouldNot) != 6 {
		t.Errorf("deleted %q after the first; receipt %+v", engine.deleted, receipt)
	}
}
