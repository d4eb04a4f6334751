package pkg_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/cluster-init/cluster-init"

// TestArrowsOfTheHouse holds every import of the house against the tables in house_arrows_test.go: files of all build
// tags, tests and sub-packages included.
func TestArrowsOfTheHouse(t *testing.T) {
	used := map[string]bool{}
	goFiles(t, func(file string) {
		from, isTest := filepath.ToSlash(filepath.Dir(file)), strings.HasSuffix(file, "_test.go")
		rule, known := arrows[from]
		if !known && from != "." { // the tests of the house itself
			t.Errorf("%s: package %q has no line in the arrows of the house", file, from)
			return
		}
		for _, to := range importsOf(t, file) {
			switch {
			case to == from:
			case slices.Contains(rule.imports, to):
				used[from+" "+to] = used[from+" "+to] || !isTest
			case !isTest:
				t.Errorf("%s imports %s, but %s may import %v only: %s", file, to, from, rule.imports, rule.reason)
			case testArrows[from][to] != "":
				used["test "+from+" "+to] = true
			case anyTest[to] != "":
				used["test "+to] = true
			default:
				t.Errorf("%s imports %s, which no test of %s may", file, to, from)
			}
		}
	})
	for from, rule := range arrows {
		for _, to := range rule.imports {
			if !used[from+" "+to] {
				t.Errorf("%s may import %s and does not: take the permission back", from, to)
			}
		}
	}
	for from, allowed := range testArrows {
		for to := range allowed {
			if !used["test "+from+" "+to] {
				t.Errorf("tests of %s may import %s and do not: take the permission back", from, to)
			}
		}
	}
	for to := range anyTest {
		if !used["test "+to] {
			t.Errorf("any test may import %s and none does: take the permission back", to)
		}
	}
}

// TestArrowsGoDown holds the table itself: nothing imports what is above it, and of the verbs only a few others.
func TestArrowsGoDown(t *testing.T) {
	floorOf := map[string]int{}
	for floor, packages := range floors {
		for _, name := range packages {
			floorOf[name] = floor
		}
	}
	const verbs = 3
	verbsOnVerbs := []string{"up pivot", "down pivot", "down cleanup", "restore pivot", "status up",
		"status workload", "down workload", "install cleanup", "install workload"}
	for from, rule := range arrows {
		outer, _, _ := strings.Cut(from, "/")
		if outer == "internal" {
			continue
		}
		floor, known := floorOf[outer]
		if !known {
			t.Errorf("package %s is on no floor of the house", from)
		}
		for _, to := range rule.imports {
			below, _, _ := strings.Cut(to, "/")
			if to == "root" || below == outer {
				continue
			}
			if at, known := floorOf[below]; !known || at > floor || at == verbs && floor == verbs &&
				!slices.Contains(verbsOnVerbs, outer+" "+below) {
				t.Errorf("%s may import %s, which is not below it", from, to)
			}
		}
	}
}

// onePackage has libraries that only one package imports, and why. Tests compare ours with the libraries.
var onePackage = []struct{ library, in, reason string }{
	{"k8s.io/client-go/tools/clientcmd", "kube", "it decides what a kubeconfig may do: Embedded for one of a cluster, a " +
		"backup or a container, ReadFile for one of the user's own"},
	{"helm.sh/helm/v3", "helm", "Helm 3 gets no security fixes from February 2027: another engine changes one package"},
}

// TestLibrariesHaveOnePackage holds onePackage.
func TestLibrariesHaveOnePackage(t *testing.T) {
	goFiles(t, func(file string) {
		from := filepath.ToSlash(filepath.Dir(file))
		if strings.HasPrefix(from, "internal/") || strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			for _, one := range onePackage {
				if from != one.in && strings.HasPrefix(i.Path.Value, `"`+one.library) {
					t.Errorf("%s imports %s, which is for pkg/%s: %s", file, one.library, one.in, one.reason)
				}
			}
		}
	})
}

// providerNames returns the infrastructure providers that the chart accepts.
func providerNames(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../charts/telco-cloud-init/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Cluster struct {
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	names := schema.Properties.Cluster.Properties["infra_provider"].Enum
	if len(names) < 3 {
		t.Fatalf("the schema lists the providers %v", names)
	}
	return names
}

// goFiles calls visit with each Go file below pkg, but for what tests only read or compile.
func goFiles(t *testing.T, visit func(file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() && strings.HasSuffix(file, ".go") {
			visit(file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// importsOf returns what a file imports of this repository: packages below pkg by their paths there, "root" for the one
// at the root, which embeds the content, and others by their paths in the repository.
func importsOf(t *testing.T, file string) (imports []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if imported == module {
			imports = append(imports, "root")
		} else if ours, found := strings.CutPrefix(imported, module+"/"); found {
			imports = append(imports, strings.TrimPrefix(ours, "pkg/"))
		}
	}
	return imports
}

// TestCleanupKnowsNoProvider holds the words of `cleanup`: what a cloud has, and what of it is a cluster's, is behind
// the seam.
func TestCleanupKnowsNoProvider(t *testing.T) {
	names := regexp.MustCompile(`(?i)openstack|\b(nova|neutron|cinder|octavia|orc|csi|` +
		strings.Join(providerNames(t), "|") + `)\b`)
	goFiles(t, func(file string) {
		if name := filepath.ToSlash(file); !strings.HasPrefix(name, "cleanup/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := names.Find(content); found != nil {
			t.Errorf("%s says %q: what differs by provider belongs into pkg/provider", file, found)
		}
	})
}

// Infrastructure providers are behind the seam: no other package may depend on a provider's name.
func TestNobodySwitchesOnAProvider(t *testing.T) {
	allowed := map[string]string{
		"provider/known/known.go":       "chooses the provider",
		"internal/providers/manager.go": "the file name of a program that the lab builds",
	}
	names := providerNames(t)
	goFiles(t, func(file string) {
		name := filepath.ToSlash(file)
		if strings.HasSuffix(name, "_test.go") || allowed[name] != "" {
			return
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, provider := range names {
			if strings.Contains(string(content), strconv.Quote(provider)) {
				t.Errorf("%s names the provider %q: what differs by provider belongs into pkg/provider", name, provider)
			}
		}
	})
}

// TestThePictureShowsEveryPackage holds the picture in CONTRIBUTING.md against the floors: each package is on its own
// floor there.
func TestThePictureShowsEveryPackage(t *testing.T) {
	content, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"GROUND", "ADAPTERS", "PARTS", "VERBS", "WIRING"}
	if len(names) != len(floors) {
		t.Fatalf("there are %d floors, and the picture has %d", len(floors), len(names))
	}
	drawn, floor := map[string]string{}, ""
	heading := regexp.MustCompile(`^    (` + strings.Join(append(names, "internal"), "|") + `) `)
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "    ") {
			floor = ""
		} else if found := heading.FindStringSubmatch(line); found != nil {
			floor = found[1]
		}
		drawn[floor] += line
	}
	for i, floor := range floors {
		for _, name := range floor {
			if !regexp.MustCompile(`[ {]` + regexp.QuoteMeta(name) + `[ ,/\n]`).MatchString(drawn[names[i]]) {
				t.Errorf("the picture in CONTRIBUTING.md does not show %s among %s", name, names[i])
			}
		}
	}
}

// TestKustomizeRunsInOnePlace holds that no package of the product gives kustomize a folder without the checks of
// pkg/kustomize. What only tests and the lab build is excepted: manifests of upstream modules, which stand in the
// module cache with checksums and name each other in ways of their own.
func TestKustomizeRunsInOnePlace(t *testing.T) {
	goFiles(t, func(file string) {
		if strings.HasPrefix(file, "kustomize/") || strings.HasPrefix(file, "internal/") ||
			strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); path == "sigs.k8s.io/kustomize/api/krusty" {
				t.Errorf("%s runs kustomize itself: use pkg/kustomize", file)
			}
		}
	})
}
