package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// artifacts packs a program that answers --version as the lab packs the stand-in.
func artifacts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tarball := filepath.Join(dir, "rke2.linux-"+runtime.GOARCH+".tar.gz")
	file, err := os.Create(tarball)
	if err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(file)
	out := tar.NewWriter(zip)
	for name, content := range map[string]string{
		"bin/rke2":                               "#!/bin/sh\necho the version\n",
		"lib/systemd/system/rke2-server.service": "[Unit]\n", "lib/systemd/system/rke2-agent.service": "[Unit]\n",
	} {
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	sums := fmt.Sprintf("%064d  rke2-images.linux-%s.tar.zst\n%x  %s\n", 0, runtime.GOARCH,
		sha256.Sum256(read(t, tarball)), filepath.Base(tarball))
	if err := os.WriteFile(filepath.Join(dir, "sha256sum-"+runtime.GOARCH+".txt"), []byte(sums), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// install runs install.sh and returns what it said and the folder it installed to.
func install(t *testing.T, variables ...string) (output, prefix string, err error) {
	t.Helper()
	prefix = t.TempDir()
	command := exec.Command("sh", filepath.Join("files", "install.sh"))
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "INSTALL_RKE2_TAR_PREFIX=" + prefix,
		"INSTALL_RKE2_SKIP_RELOAD=1"}, variables...)
	said, err := command.CombinedOutput()
	return string(said), prefix, err
}

func TestInstall(t *testing.T) {
	for kind, variable := range map[string]string{"server": "", "agent": "INSTALL_RKE2_TYPE=agent"} {
		t.Run(kind, func(t *testing.T) {
			output, prefix, err := install(t, "INSTALL_RKE2_ARTIFACT_PATH="+artifacts(t), variable)
			if err != nil || output != "installed: the version\n" {
				t.Fatalf("got %q (%v)", output, err)
			}
			for _, unit := range []string{"server", "agent"} {
				if got := exists(filepath.Join(prefix, "lib/systemd/system/rke2-"+unit+".service")); got != (unit == kind) {
					t.Errorf("unit of the %s: %v", unit, got)
				}
			}
		})
	}
}

func TestInstallRefuses(t *testing.T) {
	changed, unnamed := artifacts(t), artifacts(t)
	tarball := filepath.Join(changed, "rke2.linux-"+runtime.GOARCH+".tar.gz")
	content := read(t, tarball)
	content[len(content)-1] ^= 1
	if err := os.WriteFile(tarball, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(unnamed, "sha256sum-"+runtime.GOARCH+".txt"), []byte("0  other\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		variables []string
		want      string
	}{
		"no folder":          {nil, "INSTALL_RKE2_ARTIFACT_PATH is not set"},
		"empty folder":       {[]string{"INSTALL_RKE2_ARTIFACT_PATH=" + t.TempDir()}, "is not there"},
		"a changed tarball":  {[]string{"INSTALL_RKE2_ARTIFACT_PATH=" + changed}, "has the checksum"},
		"an unnamed tarball": {[]string{"INSTALL_RKE2_ARTIFACT_PATH=" + unnamed}, "does not name"},
		"neither of the types": {[]string{"INSTALL_RKE2_ARTIFACT_PATH=" + artifacts(t), "INSTALL_RKE2_TYPE=etcd"},
			"not server or agent"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			output, prefix, err := install(t, test.variables...)
			if err == nil || !strings.Contains(output, test.want) {
				t.Errorf("got %q (%v), want %q in it", output, err, test.want)
			}
			if exists(filepath.Join(prefix, "bin")) {
				t.Error("it installed something")
			}
		})
	}
}
