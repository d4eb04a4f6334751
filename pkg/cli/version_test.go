package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/parts"
)

func TestIdentify(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}}
	for name, tc := range map[string]struct {
		info                  *debug.BuildInfo
		version, commit, date string
	}{
		"no information": {nil, "development", "", ""},
		"go run":         {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "development", "", ""},
		"a checkout": {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs}, "abc", "abc",
			"2026-01-02T03:04:05Z"},
		"go install of a tag": {&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			id := identify(tc.info)
			if id.Version != tc.version || id.Commit != tc.commit || id.Date != tc.date || id.Go == "" ||
				id.Platform == "" {
				t.Errorf("%+v", id)
			}
		})
	}
}

// A test binary has no module list, therefore this one comes from go list.
func TestVersionReportKnowsEveryVersion(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	info := &debug.BuildInfo{}
	for line := range strings.Lines(string(out)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		info.Deps = append(info.Deps, &debug.Module{Path: path, Version: version})
	}
	report, err := newVersionReport(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range append(report.Installs, report.Libraries...) {
		if part.Name == "" || part.Origin == "" || part.Version == "" || part.Version == parts.Unknown {
			t.Errorf("%+v is not known", part)
		}
	}
}

// The controllers' versions are taken from their API modules. This holds them against what Flux's own manifests of that
// release install, which the module flux2 carries.
func TestFluxControllersAreThoseOfTheRelease(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "github.com/fluxcd/flux2/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	module, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if module != flux.Version {
		t.Errorf("flux.Version is %s, its module is %s", flux.Version, module)
	}
	for _, controller := range flux.Controllers() {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/fluxcd/"+controller+
			"/api").Output()
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := os.ReadFile(filepath.Join(dir, "manifests", "bases", controller, "kustomization.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "/releases/download/" + strings.TrimSpace(string(out)) + "/"; !strings.Contains(string(manifest),
			want) {
			t.Errorf("%s: Flux %s does not install the release of its API module, %s", controller, module, want)
		}
	}
}
