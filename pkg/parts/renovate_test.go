package parts_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/parts"
)

// customManager is one of renovate.json: in which files it looks for which versions.
type customManager struct {
	Description         string
	ManagerFilePatterns []string
	MatchStrings        []string
	DepNameTemplate     string
}

// Renovate must find every version that components install, and each of its expressions must find at least one: it says
// nothing about an expression that matches no longer.
func TestRenovateKnowsThePins(t *testing.T) {
	repository := os.DirFS("../..")
	pins := map[string]bool{} // "name version"
	for _, manager := range customManagers(t) {
		files := managedFiles(t, repository, manager)
		if len(files) == 0 {
			t.Errorf("%s: no file is named %q", manager.Description, manager.ManagerFilePatterns)
		}
		for _, expression := range manager.MatchStrings {
			found := matches(t, repository, files, expression, manager.DepNameTemplate)
			if len(found) == 0 {
				t.Errorf("%s: %s matches nothing in %q", manager.Description, expression, files)
			}
			for _, pin := range found {
				pins[pin] = true
			}
		}
	}
	installed, err := parts.FromContent(clusterinit.Content())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range installed {
		if pin := strings.TrimPrefix(part.Origin, "github.com/") + " " + part.Version; !pins[pin] {
			t.Errorf("%s: no custom manager of renovate.json finds %s", part.Name, pin)
		}
	}
	for _, name := range []string{"kubernetes/kubernetes", "rancher/rke2", "fluxcd/flux2",
		"kubernetes-sigs/cri-tools", "containernetworking/plugins", "cluster-init/cluster-init"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(pins)),
			func(pin string) bool { return strings.HasPrefix(pin, name+" ") }) {
			t.Errorf("no custom manager finds %s", name)
		}
	}
}

func customManagers(t *testing.T) []customManager {
	t.Helper()
	content, err := os.ReadFile("../../renovate.json")
	if err != nil {
		t.Fatal(err)
	}
	var config struct{ CustomManagers []customManager }
	if err := json.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	return config.CustomManagers
}

// managedFiles are those whose path matches one of the manager's patterns, which are expressions between slashes.
func managedFiles(t *testing.T, repository fs.FS, manager customManager) []string {
	t.Helper()
	var patterns []*regexp.Regexp
	for _, pattern := range manager.ManagerFilePatterns {
		patterns = append(patterns, regexp.MustCompile(strings.TrimSuffix(strings.TrimPrefix(pattern, "/"), "/")))
	}
	var files []string
	err := fs.WalkDir(repository, ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, file) {
			return fs.SkipDir
		}
		if err == nil && slices.ContainsFunc(
			patterns, func(p *regexp.Regexp) bool { return p.MatchString(path.Clean(file)) }) {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// matches returns "name version" for each place; the expressions mean the same to Go as to Renovate's RE2.
func matches(t *testing.T, repository fs.FS, files []string, expression, name string) []string {
	t.Helper()
	compiled := regexp.MustCompile(expression)
	var found []string
	for _, file := range files {
		content, err := fs.ReadFile(repository, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range compiled.FindAllStringSubmatch(string(content), -1) {
			of := name
			if i := compiled.SubexpIndex("depName"); i >= 0 {
				of = match[i]
			}
			found = append(found, of+" "+match[compiled.SubexpIndex("currentValue")])
		}
	}
	return found
}
