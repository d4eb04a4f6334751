package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// dist writes what goreleaser has when it has built those platforms.
func dist(t *testing.T, folders ...string) (string, imageOptions) {
	t.Helper()
	dir := t.TempDir()
	roots := filepath.Join(dir, "roots.pem")
	if err := os.WriteFile(roots, []byte("roots"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder, "cluster-init"), []byte(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, imageOptions{version: "v1.2.3", revision: "abc", created: "2026-01-02T03:04:05Z", roots: roots,
		output: filepath.Join(dir, "cluster-init_1.2.3_image.tar")}
}

func TestImage(t *testing.T) {
	dir, o := dist(t, "linux_linux_amd64_v1", "linux_linux_arm64_v8.0", "darwin_darwin_arm64_v8.0")
	var files [2][]byte
	for i := range files {
		if err := o.run(dir); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(o.output)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = content
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same binaries gave two different images")
	}
	images, err := readImages(o.output, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(images) != 2 {
		t.Errorf("%d images, want one for each linux binary", len(images))
	}
	for platform, content := range map[string]string{"linux_amd64": "linux_linux_amd64_v1",
		"linux_arm64": "linux_linux_arm64_v8.0"} {
		image := images[platform]
		if err := validate.Image(image); err != nil {
			t.Errorf("%s: %v", platform, err)
		}
		if sum, err := sumInImage(image); err != nil || sum != hexSum([]byte(content)) {
			t.Errorf("%s: binary %s, %v", platform, sum, err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.OS+"_"+config.Architecture != platform || config.Config.Entrypoint[0] != imageBinary ||
			config.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" {
			t.Errorf("%s: config %+v", platform, config)
		}
	}
}

// After the first linux build there is only one binary, and the image is written all the same.
func TestImageOfOnePlatform(t *testing.T) {
	dir, o := dist(t, "linux_linux_amd64_v1")
	if err := o.run(dir); err != nil {
		t.Fatal(err)
	}
	if images, err := readImages(o.output, t.TempDir()); err != nil || len(images) != 1 {
		t.Errorf("%d images, %v", len(images), err)
	}
	// A release must not have such an image.
	err := verifyImage(os.Stderr, dir, map[string]string{filepath.Base(o.output): ""},
		map[string]program{"linux_amd64": {sum: hexSum([]byte("linux_linux_amd64_v1"))}})
	if err == nil || !strings.Contains(err.Error(), "no image for linux_arm64") {
		t.Errorf("%v", err)
	}
}

func TestImageRefusesTwoBinariesOfOnePlatform(t *testing.T) {
	dir, o := dist(t, "linux_linux_amd64_v1", "linux_linux_amd64_v3")
	if err := o.run(dir); err == nil {
		t.Error("it chose one of two binaries")
	}
}
