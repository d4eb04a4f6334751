// Package debian makes root file systems of Debian packages.
package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// suite is the Debian release of all root file systems. Its systemd (252) still boots on cgroup v1; trixie's does not.
const suite = "bookworm"

// archiveName is the file of a root file system in its folder of the store.
const archiveName = "rootfs.tar"

// unneeded is what no container reads.
var unneeded = []string{"/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*"}

// Rootfs is a root file system: its packages on top of Debian's minimal set.
type Rootfs struct {
	Name     string
	Packages []string
}

// Built is a root file system in the store.
type Built struct {
	Archive string // tar file
	Key     string // hash of what defines it; Debian's own updates are not part of it
}

// Build returns the root file system, made by mmdebstrap when the store does not hold it.
func (r Rootfs) Build(ctx context.Context, cache *store.Store, say *progress.Printer) (Built, error) {
	args, key := r.args(), r.Key()
	dir, err := cache.Get("rootfs", r.Name, key, func(dir string) error {
		return say.Step("Debian root file system for "+r.Name, func() error {
			return bootstrap(ctx, append(args, filepath.Join(dir, archiveName)))
		})
	})
	return Built{Archive: filepath.Join(dir, archiveName), Key: key}, err
}

// Key returns the hash of what defines the root file system, as in Built.
func (r Rootfs) Key() string { return store.Key(append([]string{runtime.GOARCH}, r.args()...)...) }

// args returns the arguments of mmdebstrap without the target.
func (r Rootfs) args() []string {
	args := []string{
		"--quiet", "--variant=minbase", "--hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr",
		"--include=" + strings.Join(r.Packages, ","),
	}
	for _, path := range unneeded {
		args = append(args, "--dpkgopt=path-exclude="+path)
	}
	return append(args, suite)
}

// bootstrap runs mmdebstrap.
func bootstrap(ctx context.Context, args []string) error {
	if err := host.Install(ctx, "mmdebstrap", "mmdebstrap"); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("making a Debian root file system needs root")
	}
	if _, err := host.Run(ctx, host.Command{Name: "mmdebstrap", Args: args}); err != nil {
		return fmt.Errorf("make a Debian root file system: %w", err)
	}
	return nil
}
