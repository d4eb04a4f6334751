//go:build e2e

package e2e

import (
	"encoding/base64"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// repository is a user's working copy, and the bare repository that its server serves.
type repository struct{ work, root, name string }

// newRepository makes a repository with one commit that holds the content.
func newRepository(t *testing.T, content content.Tree) repository {
	t.Helper()
	r := repository{work: t.TempDir(), root: t.TempDir(), name: "platform.git"}
	git(t, r.root, "init", "--quiet", "--bare", "--initial-branch", "main", r.name)
	git(t, r.work, "init", "--quiet", "--initial-branch", "main")
	git(t, r.work, "remote", "add", "origin", filepath.Join(r.root, r.name))
	for path, data := range content {
		r.write(t, path, string(data))
	}
	return r
}

func (r repository) write(t *testing.T, path, text string) {
	t.Helper()
	file := filepath.Join(r.work, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace changes a text that is in a file once, in the working copy.
func (r repository) replace(t *testing.T, path, old, text string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.work, path))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(content), old) != 1 {
		t.Fatalf("%s has %q %d times", path, old, strings.Count(string(content), old))
	}
	r.write(t, path, strings.Replace(string(content), old, text, 1))
}

// push commits all changes, pushes them to main and returns the commit.
func (r repository) push(t *testing.T, message string) string {
	t.Helper()
	git(t, r.work, "add", "--all")
	git(t, r.work, "commit", "--quiet", "--message", message)
	git(t, r.work, "push", "--quiet", "origin", "main")
	return git(t, r.work, "rev-parse", "HEAD")
}

// gitEnvironment is that of every git process: nothing of the machine's or its user's configuration.
func gitEnvironment() []string {
	return []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME=/nonexistent",
		"GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@example.org", "GIT_COMMITTER_NAME=e2e",
		"GIT_COMMITTER_EMAIL=e2e@example.org"}
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = folder, append(gitEnvironment(), "PATH="+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// variable is what a run of the CLI gets, and something where it would ask a cloud.
func (l lab) variable(name string) (string, bool) {
	for _, entry := range slices.Backward(l.environment) {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value, true
		}
	}
	asked := map[string]string{"OPENSTACK_CLOUD": "any", "OPENSTACK_CLOUD_YAML_B64": base64.StdEncoding.EncodeToString(
		[]byte("clouds: {any: {region_name: any}}"))}
	if value, is := asked[name]; is {
		return value, true
	}
	return os.LookupEnv(name)
}

// localContent is the content as a user without internet keeps it: remote resources replaced by the bundle's files.
func localContent(t *testing.T, l lab) content.Tree {
	t.Helper()
	b := l.openBundle(t)
	env, err := environment.Load(t.Context(), environment.Options{Name: l.name, Content: clusterinit.Content(),
		Variables: l.variable})
	if err != nil {
		t.Fatal(err)
	}
	if env, err = env.WithOverrides(b.Index.Values); err != nil {
		t.Fatal(err)
	}
	paths, err := env.ComponentPaths()
	if err != nil {
		t.Fatal(err)
	}
	charts, err := content.ReadTree(clusterinit.Content(), "charts")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	components, err := content.Components(clusterinit.Content(), profile)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := content.Localize(t.Context(), components, paths, b)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(tree, charts)
	return tree
}
