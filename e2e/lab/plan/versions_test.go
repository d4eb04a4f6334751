package plan

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// budget is how many modules may differ from all other build modules, by build module; "" is the budget of the others
// together. A module in two versions is compiled twice on every cold machine. Each budget has room for a few updates, so
// that one update warns (go test -v) and does not fail.
var budget = map[string]int{
	"":                               10,
	"cluster-api-provider-rke2":      28,
	"cluster-api-provider-openstack": 24,
	"cluster-api-provider-aws":       88,
}

// apart are the build modules that say why they stand apart.
func apart() map[string]string {
	reasons := map[string]string{}
	for _, module := range append(Modules([]string{"kubeadm-capd", "rke2-capo"}), TestManagers()...) {
		if module.Apart != "" {
			reasons[module.Name] = module.Apart
		}
	}
	return reasons
}

// pins are the versions that a go.mod builds with, by module; replacements count.
func pins(t *testing.T, file string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := modfile.Parse(file, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, require := range parsed.Require {
		found[require.Mod.Path] = require.Mod.Version
	}
	for _, replace := range parsed.Replace {
		if _, used := found[replace.Old.Path]; used {
			found[replace.Old.Path] = replace.New.Version
		}
	}
	return found
}

func TestFewDependenciesHaveTwoVersions(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	modules, err := filepath.Glob(filepath.Join(root, "e2e", "lab", "modules", "*", "go.mod"))
	if err != nil || len(modules) < 10 {
		t.Fatalf("%d build modules (%v)", len(modules), err)
	}
	files := append([]string{filepath.Join(root, "go.mod"),
		filepath.Join(root, "pkg/environment/testdata/helm/go.mod")}, modules...)
	standApart := apart()
	common := map[string]map[string][]string{} // module, version, who has it
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if standApart[name] != "" {
			continue
		}
		for module, version := range pins(t, file) {
			if common[module] == nil {
				common[module] = map[string][]string{}
			}
			common[module][version] = append(common[module][version], name)
		}
	}
	twice := 0
	for _, module := range slices.Sorted(maps.Keys(common)) {
		if versions := common[module]; len(versions) > 1 {
			twice++
			t.Logf("warning: %s is compiled in %d versions: %v", module, len(versions), versions)
		}
	}
	if twice > budget[""] {
		t.Errorf("%d modules are compiled in several versions, the budget is %d", twice, budget[""])
	}
	for name := range budget {
		if name != "" && standApart[name] == "" {
			t.Errorf("%s has a budget and does not stand apart", name)
		}
	}
	for name, reason := range standApart {
		var different []string
		for module, version := range pins(t, filepath.Join(root, "e2e", "lab", "modules", name, "go.mod")) {
			if versions := common[module]; len(versions) > 0 && versions[version] == nil {
				different = append(different, fmt.Sprintf("%s %s, not %s", module, version,
					slices.Sorted(maps.Keys(versions))[0]))
			}
		}
		slices.Sort(different)
		t.Logf("%s has %d modules in another version (%s):\n  %s", name, len(different), reason,
			strings.Join(different, "\n  "))
		if len(different) > budget[name] {
			t.Errorf("%s has %d modules in another version, the budget is %d", name, len(different), budget[name])
		}
	}
}
