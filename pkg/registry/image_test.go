package registry

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestBinaryImageIsDeterministicAndValid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(path, bytes.Repeat([]byte("binary"), 1000), 0o755); err != nil {
		t.Fatal(err)
	}
	var streams [2]bytes.Buffer
	var refs [2]string
	for i := range streams {
		img, err := newBinaryImage(path, "amd64")
		if err != nil {
			t.Fatal(err)
		}
		if err := img.writeTo(&streams[i]); err != nil {
			t.Fatal(err)
		}
		refs[i] = img.reference()
	}
	if refs[0] != refs[1] || !bytes.Equal(streams[0].Bytes(), streams[1].Bytes()) {
		t.Error("the same binary gave two different images")
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(file, streams[0].Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Errorf("the image is not valid: %v", err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != "amd64" || config.OS != "linux" || config.Config.Entrypoint[0] != "/cluster-init" {
		t.Errorf("config %+v does not run the binary on linux/amd64", config)
	}
}

func TestStaticBinary(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	static := filepath.Join(dir, "static")
	build := exec.Command("go", "build", "-o", static, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	other := "arm64"
	if runtime.GOARCH == other {
		other = "amd64"
	}
	cases := []struct{ name, path, arch, want string }{
		{"static", static, runtime.GOARCH, ""},
		{"other platform", static, other, "the Docker engine is " + other},
		{"dynamic", "/bin/ls", runtime.GOARCH, "not static"},
		{"no program", source, runtime.GOARCH, "no linux program"},
		{"absent", filepath.Join(dir, "absent"), runtime.GOARCH, "no such file"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := staticBinary(tc.path, tc.arch)
			if tc.want == "" {
				if err != nil || got != tc.path {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
			if fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" {
				t.Errorf("code %s, hint %q", fault.CodeOf(err), fault.HintOf(err))
			}
		})
	}
}
