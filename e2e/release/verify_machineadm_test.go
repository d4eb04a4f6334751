package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// built compiles a program of the module and folder into dist, under the name of a release, and returns its checksums.
func built(t *testing.T, folder, arch, version string, flags ...string) (dist string, sums map[string]string) {
	t.Helper()
	module, dist := t.TempDir(), t.TempDir()
	name := "machineadm_1.2.3_linux_" + arch
	mod := "module " + strings.TrimSuffix(machineadmPackage, "/cmd/machineadm") + "\n"
	code := fmt.Sprintf("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(%q) }\n", version+"\n")
	for file, content := range map[string]string{"go.mod": mod, filepath.Join(folder, "main.go"): code} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(module, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(module, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := slices.Concat([]string{"build", "-o", filepath.Join(dist, name)}, flags, []string{"./" + folder})
	build := exec.Command("go", args...)
	build.Dir = module
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOOS=linux", "GOARCH="+arch, "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum, err := sha256Of(filepath.Join(dist, name))
	if err != nil {
		t.Fatal(err)
	}
	return dist, map[string]string{name: sum}
}

func TestVerifyMachineadm(t *testing.T) {
	const folder = "cmd/machineadm"
	platform := "linux_" + runtime.GOARCH
	cases := map[string]struct {
		folder, version string
		flags           []string
		want            string // of the error; empty: none
	}{
		"a program of the host":  {folder: folder, version: machineadm.APIVersion},
		"another program":        {folder: "cmd/other", version: machineadm.APIVersion, want: "cmd/other"},
		"one with an old schema": {folder: folder, version: "v0", want: `its version is "v0"`},
		"one with a loader": {folder: folder, version: machineadm.APIVersion, flags: []string{"-buildmode=pie"},
			want: "it is not static"},
	}
	if runtime.GOOS != "linux" { // it is not run
		delete(cases, "one with an old schema")
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dist, sums := built(t, tc.folder, runtime.GOARCH, tc.version, tc.flags...)
			var out bytes.Buffer
			_, err := verifyMachineadm(t.Context(), &out, dist, platform, sums)
			if tc.want == "" {
				if err != nil || !strings.Contains(out.String(), "machineadm_1.2.3_"+platform+": static") {
					t.Errorf("%v, printed %q", err, out.String())
				}
				return
			}
			for _, want := range []string{tc.want, "machineadm_1.2.3_"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
		})
	}
}

// What is for another architecture is not run; under the wrong name it is refused.
func TestVerifyMachineadmOfAnotherArchitecture(t *testing.T) {
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	dist, sums := built(t, "cmd/machineadm", other, "never run")
	if _, err := verifyMachineadm(t.Context(), &bytes.Buffer{}, dist, "linux_"+other, sums); err != nil {
		t.Error(err)
	}
	here, old := "machineadm_1.2.3_linux_"+runtime.GOARCH, "machineadm_1.2.3_linux_"+other
	if err := os.Rename(filepath.Join(dist, old), filepath.Join(dist, here)); err != nil {
		t.Fatal(err)
	}
	sums = map[string]string{here: sums[old]}
	_, err := verifyMachineadm(t.Context(), &bytes.Buffer{}, dist, "linux_"+runtime.GOARCH, sums)
	if err == nil || !strings.Contains(err.Error(), "GOARCH="+runtime.GOARCH) {
		t.Errorf("a program for another architecture: %v", err)
	}
	_, err = verifyMachineadm(t.Context(), &bytes.Buffer{}, dist, "linux_"+runtime.GOARCH, nil)
	if err == nil || !strings.Contains(err.Error(), "0 files machineadm_*_linux_"+runtime.GOARCH) {
		t.Errorf("without a checksum: %v", err)
	}
}
