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

// budget is how many modules the build modules that stand apart have in another version than all others. What is in two
// versions is compiled twice on every cold machine.
var budget = map[string]int{
	"cluster-api-provider-rke2":      18,
	"cluster-api-provider-openstack": 14,
	"cluster-api-provider-aws":       78,
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

func TestOneVersionOfEachDependency(t *testing.T) {
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
	for _, module := range slices.Sorted(maps.Keys(common)) {
		if versions := common[module]; len(versions) > 1 {
			t.Errorf("%s is compiled in %d versions: %v", module, len(versions), versions)
		}
	}
	for name := range budget {
		if standApart[name] == "" {
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
