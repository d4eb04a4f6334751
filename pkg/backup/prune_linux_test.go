package backup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// withoutRoot makes a test that root runs use files as an ordinary user, who gets a folder.
func withoutRoot(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const unprivileged = 65534
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, unprivileged, unprivileged))
	}))
	runtime.LockOSThread() // the user is that of the thread
	_, err := unix.SetfsuidRetUid(unprivileged)
	must(t, err)
	t.Cleanup(func() {
		_, err := unix.SetfsuidRetUid(0)
		must(t, err)
		runtime.UnlockOSThread()
	})
}

// A removal that fails is an error with all that was removed. The next one ends it.
func TestPruneAgainAfterAFailure(t *testing.T) {
	dir := t.TempDir()
	for _, day := range []int{1, 2, 20} {
		writeOn(t, dir, day, backup.Recipients{}, nil)
	}
	withoutRoot(t, dir)
	must(t, os.Chmod(filepath.Join(dir, nameOn(1), "objects"), 0o500))
	p, err := prune(t, dir, 1)
	if fault.CodeOf(err) != fault.BackupNotPruned || !errors.Is(err, fs.ErrPermission) || fault.HintOf(err) == "" ||
		!slices.Equal(p.Removed, []string{nameOn(2)}) {
		t.Errorf("%v removed %v", err, p.Removed)
	}
	must(t, os.Chmod(filepath.Join(dir, nameOn(1), "objects"), 0o700))
	if p, err := prune(t, dir, 1); err != nil || !slices.Equal(p.Removed, []string{nameOn(1)}) {
		t.Errorf("%v removed %v", err, p.Removed)
	}
}
