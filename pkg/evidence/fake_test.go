package evidence

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// fakeEngine has one machine and one registry.
type fakeEngine struct{ broken bool }

var errEngine = errors.New("the engine is away, said hunter22")

func (e fakeEngine) Containers(_ context.Context, f docker.Filter) ([]string, error) {
	if e.broken {
		return nil, errEngine
	}
	switch f.Labels[0] {
	case "io.x-k8s.kind.cluster=demo":
		return []string{"demo-machine"}, nil
	case "cluster-init.io/cluster=demo":
		return []string{"demo-registry"}, nil
	}
	return nil, nil
}

func (e fakeEngine) Table(context.Context) (string, error) {
	if e.broken {
		return "", errEngine
	}
	return "NAMES\ndemo-machine\nother\n", nil
}

func (e fakeEngine) InspectAll(_ context.Context, name string) (map[string]any, error) {
	labels := map[string]any{}
	if name == "demo-machine" {
		labels[kind.RoleLabel] = "control-plane"
	}
	return map[string]any{"Name": "/" + name, "State": map[string]any{"Running": true},
			"Args": []any{"--password", "hunter22"},
			"Config": map[string]any{"Labels": labels, "Env": []any{"HTTPS_PROXY=http://user:unknown@proxy",
				"PATH=/bin"}}},
		nil
}

func (e fakeEngine) Logs(_ context.Context, name string, _, _ int) (string, error) {
	return "log of " + name + "\npassword is hunter22\n", nil
}

func (e fakeEngine) Output(_ context.Context, name string, args []string, _ int) (string, error) {
	return args[0] + " of " + name + "\n", nil
}

// fakeAPI answers GET requests by their path; all others it does not find.
func fakeAPI(t *testing.T, name string, answers map[string]string) *kube.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if r.URL.Query().Get("previous") == "true" {
			path += "?previous"
		}
		answer, found := answers[path]
		switch {
		case answer == "hang":
			<-r.Context().Done()
		case !found:
			http.NotFound(w, r)
		default:
			if strings.HasPrefix(answer, "{") {
				w.Header().Set("Content-Type", "application/json")
			}
			_, _ = w.Write([]byte(answer))
		}
	}))
	t.Cleanup(server.Close)
	c, err := kube.Connect(name, []byte(`{apiVersion: v1, kind: Config, current-context: x, users: [{name: x}],
contexts: [{name: x, context: {cluster: x, user: x}}], clusters: [{name: x, cluster: {server: "`+server.URL+`"}}]}`), runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clusters is Collector.Clusters for clusters that are there.
func clusters(list ...*kube.Cluster) func(context.Context) ([]*kube.Cluster, error) {
	return func(context.Context) ([]*kube.Cluster, error) { return list, nil }
}

// files reads all files below dir, by their names with slashes, and holds their modes against what only the owner
// reads.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if want := map[bool]os.FileMode{true: 0o700, false: 0o600}[entry.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		if entry.IsDir() {
			return nil
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func names(files map[string]string) []string {
	var list []string
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
