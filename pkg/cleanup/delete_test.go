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
	return cleanup.Plan{
		Delete: []cleanup.Item{
			{Kind: cleanup.BootstrapNode, Name: "node"}, {Kind: cleanup.Machine, Name: "machine"}, {Kind: cleanup.Registry, Name: "registry"},
			{Kind: cleanup.Volume, Name: "volume"}, {Kind: cleanup.Image, Name: image}, {Kind: cleanup.Network, Name: "kind"}, {Kind: cleanup.File, Name: file},
		},
		LeftAlone: []cleanup.Item{{Kind: cleanup.Machine, Name: "foreign"}},
	}
}

func TestDelete(t *testing.T) {
	refused := errors.New("the engine refuses")
	gone := fmt.Errorf("remove: %w", docker.ErrNotFound)
	all := []string{"container node", "container machine", "container registry", "volume volume", "image " + image, "network kind"}
	without := func(what string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == what })
	}
	tests := map[string]struct {
		engine fakeEngine
		want   []string
		failed []string // items that the error names
	}{
		"everything": {want: all},
		"what is gone already is no error": {
			engine: fakeEngine{fails: map[string]error{"remove container machine": gone, "remove volume volume": gone}},
			want:   slices.DeleteFunc(without("container machine"), func(s string) bool { return s == "volume volume" })},
		"it goes on after a failure and reports it": {
			engine: fakeEngine{fails: map[string]error{"remove container machine": refused}},
			want:   without("container machine"), failed: []string{"machine machine"}},
		"it reports all failures": {
			engine: fakeEngine{fails: map[string]error{"remove container node": refused, "remove network kind": refused}},
			want:   without("container node")[:4], failed: []string{"bootstrap-node node", "network kind"}},
		"an image that another environment's registry runs stays": {
			engine: fakeEngine{fails: map[string]error{"remove image " + image: refused},
				containers: map[string]docker.Container{"other-registry": registry("other")}},
			want: without("image " + image)},
		"an image that nobody runs and that cannot be deleted": {
			engine: fakeEngine{fails: map[string]error{"remove image " + image: refused}},
			want:   without("image " + image), failed: []string{"image " + image}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "state")
			if err := os.MkdirAll(filepath.Join(file, "backup"), 0o700); err != nil {
				t.Fatal(err)
			}
			var told, failed []string
			err := cleanup.Delete(t.Context(), &tc.engine, everything(file), func(item cleanup.Item, err error) {
				told = append(told, item.Name)
				if err != nil {
					failed = append(failed, string(item.Kind)+" "+item.Name)
				}
			})
			if !slices.Equal(tc.engine.deleted, tc.want) {
				t.Errorf("deleted %q\nwant    %q", tc.engine.deleted, tc.want)
			}
			if len(told) != 7 || !slices.Equal(failed, tc.failed) {
				t.Errorf("told of %q, of which failed %q", told, failed)
			}
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is still there: %v", err)
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
	err := cleanup.Delete(ctx, engine, everything(filepath.Join(t.TempDir(), "state")), func(cleanup.Item, error) { cancel() })
	if fault.CodeOf(err) != fault.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(engine.deleted, []string{"container node"}) {
		t.Errorf("deleted %q after the first", engine.deleted)
	}
}
