package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/registry"
)

// program is what is known of the binary in an archive.
type program struct {
	sum      string   // SHA-256
	registry string   // that of the bundled linux binary, if there is one
	modules  []string // path@version of everything it was built with
}

// verifyArchive reads an archive through and checks that what users install is there, for that platform.
func verifyArchive(w io.Writer, dist, platform string, sums map[string]string) (program, error) {
	name, err := released(dist, "cluster-init", "_"+platform+".tar.gz", sums)
	if err != nil {
		return program{}, err
	}
	files, err := readArchive(name)
	if err != nil {
		return program{}, fmt.Errorf("read %s: %w", name, err)
	}
	want := []string{"cluster-init", "LICENSE", "README.md", "CHANGELOG.md", "man/man1/cluster-init.1",
		"man/man1/cluster-init-up.1",
		"completions/cluster-init.bash", "completions/_cluster-init", "completions/cluster-init.fish"}
	bundled := "lib/" + registry.BinaryName("arm64")
	if strings.HasPrefix(platform, "darwin") {
		want = append(want, bundled)
	}
	for _, file := range want {
		if len(files[file]) == 0 {
			return program{}, fmt.Errorf("%s: %s is missing or empty", name, file)
		}
	}
	found := program{sum: hexSum(files["cluster-init"])}
	if content, ok := files[bundled]; ok {
		if _, err := platformOf(content, "linux_arm64"); err != nil {
			return program{}, fmt.Errorf("%s: %s: %w", name, bundled, err)
		}
		found.registry = hexSum(content)
	}
	info, err := platformOf(files["cluster-init"], platform)
	if err != nil {
		return program{}, fmt.Errorf("%s: cluster-init: %w", name, err)
	}
	found.modules = modulesOf(info)
	fmt.Fprintf(w, "archive    %s: %d files, %d modules\n", path.Base(name), len(files), len(found.modules))
	return found, nil
}

// readArchive returns the files below the archive's one folder.
func readArchive(name string) (map[string][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	top := strings.TrimSuffix(path.Base(name), ".tar.gz") + "/"
	files := map[string][]byte{}
	for t := tar.NewReader(unzipped); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		file, below := strings.CutPrefix(header.Name, top)
		if !below {
			return nil, fmt.Errorf("%s is not below %s", header.Name, top)
		}
		if program := file == "cluster-init" || strings.HasPrefix(file, "lib/"); program != (header.Mode&0o111 != 0) {
			return nil, fmt.Errorf("%s has mode %o", file, header.Mode)
		}
		if files[file], err = io.ReadAll(t); err != nil {
			return nil, err
		}
	}
}

// platformOf returns the build information of a program that must be for that GOOS_GOARCH, and static.
func platformOf(content []byte, platform string) (*debug.BuildInfo, error) {
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	system, arch, _ := strings.Cut(platform, "_")
	for key, want := range map[string]string{"GOOS": system, "GOARCH": arch, "CGO_ENABLED": "0"} {
		if !slices.Contains(info.Settings, debug.BuildSetting{Key: key, Value: want}) {
			return nil, fmt.Errorf("it was not built with %s=%s: %v", key, want, info.Settings)
		}
	}
	return info, nil
}

// modulesOf returns path@version of everything that a program was built with.
func modulesOf(info *debug.BuildInfo) []string {
	var modules []string
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		modules = append(modules, module.Path+"@"+module.Version)
	}
	return modules
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
