// Package node makes the image of kind nodes and Docker machines from kind's own files, a Debian root file system and
// binaries of build modules. It does what kind's images/base/Dockerfile and pkg/build/nodeimage do.
package node

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/image"
)

// Packages are the Debian packages of a node: those of kind's Dockerfile without network storage, and with runc.
var Packages = []string{
	"systemd", "dbus", "conntrack", "iptables", "nftables", "iproute2", "ethtool", "util-linux", "mount", "kmod",
	"libseccomp2", "pigz", "e2fsprogs", "bash", "ca-certificates", "curl", "jq", "procps", "runc",
}

// unwantedUnits are what kind's Dockerfile removes, as patterns of path.Match on a merged /usr.
var unwantedUnits = []string{
	"usr/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
	"usr/lib/systemd/system/multi-user.target.wants/*",
	"usr/lib/systemd/system/local-fs.target.wants/*",
	"usr/lib/systemd/system/sockets.target.wants/*udev*",
	"usr/lib/systemd/system/sockets.target.wants/*initctl*",
	"usr/lib/systemd/system/basic.target.wants/*",
	"etc/systemd/system/*.wants/*",
	"var/cache/apt/*", "var/lib/apt/lists/*",
}

// Unwanted tells what a node leaves out of its root file system.
func Unwanted(name string) bool {
	for _, pattern := range unwantedUnits {
		if matched, _ := path.Match(pattern, name); matched {
			return true
		}
	}
	return false
}

// kindFiles returns the files of kind's images/base/files with the modes that its Dockerfile gives them.
func kindFiles(kindModule, pause string) ([]image.Entry, error) {
	base := filepath.Join(kindModule, "images", "base", "files")
	var entries []image.Entry
	err := filepath.WalkDir(base, func(file string, item fs.DirEntry, err error) error {
		if err != nil || item.IsDir() {
			return err
		}
		name, err := filepath.Rel(base, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		entry := image.Entry{Path: filepath.ToSlash(name), Content: content}
		if strings.HasPrefix(entry.Path, "usr/local/bin/") || strings.HasPrefix(entry.Path, "kind/bin/") {
			entry.Mode = 0o755
		}
		if entry.Path == "etc/containerd/config.toml" {
			if entry.Content, err = containerdConfig(content, pause); err != nil {
				return err
			}
		}
		entries = append(entries, entry)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read kind's files: %w", err)
	}
	return entries, nil
}

// systemdFiles enables the units that kind's Dockerfile enables and adds what it changes.
func systemdFiles() []image.Entry {
	entries := []image.Entry{
		{Path: "usr/sbin/init", Link: "/usr/lib/systemd/systemd"},
		{Path: "etc/systemd/system/systemd-binfmt.service", Link: "/dev/null"},
		{Path: "etc/systemd/journald.conf.d/kind.conf", Content: []byte("[Journal]\nReadKMsg=no\n")},
		{Path: "etc/kubernetes/manifests/"},
		{Path: "etc/containerd/certs.d/"},
	}
	for _, unit := range []string{"kubelet.service", "containerd.service", "undo-mount-hacks.service"} {
		entries = append(entries, image.Entry{
			Path: "etc/systemd/system/multi-user.target.wants/" + unit, Link: "/etc/systemd/system/" + unit,
		})
	}
	return entries
}

// runtimeSpec edits the output of `ctr oci spec` as kind's Dockerfile does: a hook that gives pods their node's
// product files, and no limits of its own.
func runtimeSpec(generated []byte) ([]byte, error) {
	var spec map[string]any
	if err := json.Unmarshal(generated, &spec); err != nil {
		return nil, fmt.Errorf("parse the runtime's default configuration: %w", err)
	}
	hooks, _ := spec["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
	}
	list, _ := hooks["createContainer"].([]any)
	hooks["createContainer"] = append(list, map[string]any{"path": "/kind/bin/mount-product-files.sh"})
	spec["hooks"] = hooks
	if process, ok := spec["process"].(map[string]any); ok {
		delete(process, "rlimits")
	}
	return json.Marshal(spec)
}
