package machineadm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A poor image is named before anything is changed, with all that it lacks.
func TestImageThatLacksSomething(t *testing.T) {
	for name, tc := range map[string]struct {
		remove []string
		want   string
	}{
		"all": {[]string{"bin", "usr", "etc/containerd"}, "check the image: it lacks modprobe (for kernel modules), a " +
			"folder for certificate authorities, systemctl (to start services), kubeadm, a configuration of containerd: "},
		"a command": {[]string{"bin/update-ca-certificates"}, "it lacks update-ca-certificates"},
	} {
		m := newMachine(t, everything(t))
		for _, path := range tc.remove {
			if err := os.RemoveAll(filepath.Join(m.root, path)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if m.content(t, "etc/sysctl.d/90-cluster-init.conf") != "" || len(*m.ran) > 0 {
			t.Errorf("%s: something was changed", name)
		}
	}
}

// Only a configuration that surely reads no mirrors is refused.
func TestRegistryPath(t *testing.T) {
	const other = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/etc/other'\n"
	for config, refused := range map[string]bool{
		"version = 3\n": false, "version = 4\n": false, "version = 2\n": true, "": true, "version = \n": true, other: true,
		"version = 2\nimports = ['/etc/a.toml']\n":                                     false,
		strings.Replace(other, "/etc/other", "/etc/containerd/certs.d:/etc/docker", 1): false,
	} {
		m := newMachine(t, header+"containerd: {registryMirrors: [{host: a, url: 'http://b'}]}")
		m.put(t, "etc/containerd/config.toml", config, 0o644)
		if _, err := m.Prepare(t.Context()); (err != nil) != refused || refused && !strings.Contains(err.Error(),
			"it lacks config_path = ") {
			t.Errorf("%q: %v", config, err)
		}
	}
}

// containerd's configuration keeps all else, and an unknown version stays as it is. The file can be a link.
func TestCgroupDriver(t *testing.T) {
	const driver = header + "containerd: {cgroupDriver: systemd}"
	for config, want := range map[string]string{
		"version = 2\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]\n" +
			"SystemdCgroup = false\nX = 1\n": "",
		"version = 3\nroot = '/data'\n": "",
		"version = 1\n":                 "has version 1, want 2, 3 or 4",
		"version = \n":                  "is not TOML",
		"version = 3\nplugins = 'a'\n":  "plugins is not a table",
	} {
		m := newMachine(t, driver)
		m.put(t, "usr/share/containerd.toml", config, 0o600)
		place := filepath.Join(m.root, "etc/containerd/config.toml")
		if err := errors.Join(os.Remove(place), os.Symlink("../../usr/share/containerd.toml", place)); err != nil {
			t.Fatal(err)
		}
		_, err := m.Prepare(t.Context())
		got := m.content(t, "usr/share/containerd.toml")
		if info, statErr := os.Stat(place); statErr != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", config, info, statErr)
		}
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || got != config {
				t.Errorf("%q: %v, %q", config, err, got)
			}
			continue
		}
		if err != nil || !strings.Contains(got, "SystemdCgroup = true") || strings.Contains(config, "X") !=
			strings.Contains(got, "X = 1") || strings.Contains(config, "root") != strings.Contains(got, "root = '/data'") {
			t.Errorf("%q: %v, %q", config, err, got)
		}
	}
}
