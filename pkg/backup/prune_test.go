package backup_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// nameOn is the name of the backup that was made on that day.
func nameOn(day int) string {
	return owned.Backup("demo", time.Date(2026, 1, day, 3, 4, 5, 0, time.UTC))
}

// writeOn writes a backup that was made on that day.
func writeOn(t *testing.T, dir string, day int, to backup.Recipients, change func(*backup.Manifest)) string {
	t.Helper()
	c := content()
	c.Created = time.Date(2026, 1, day, 3, 4, 5, 0, time.UTC)
	if change != nil {
		change(&c.Manifest)
	}
	return filepath.Base(write(t, dir, c, to))
}

// namesIn returns what is in a folder.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// prune keeps that many of the backups in a folder. The one of day 20 is the newest.
func prune(t *testing.T, dir string, keep int) (backup.Pruned, error) {
	t.Helper()
	p, err := backup.Prune(filepath.Join(dir, nameOn(20)), content().Manifest, keep)
	for i, path := range p.Removed {
		p.Removed[i] = strings.TrimPrefix(path, dir+"/")
	}
	for i, n := range p.NotRemoved {
		p.NotRemoved[i].Path = strings.TrimPrefix(n.Path, dir+"/")
	}
	return p, err
}

func TestPrune(t *testing.T) {
	public, _ := keyPair(t)
	sealed := recipients(t, public)
	plain := backup.Recipients{}
	const suffix = owned.EncryptedSuffix
	file := func(t *testing.T, name string) { must(t, os.WriteFile(name, []byte("x"), 0o600)) }
	three := func(t *testing.T, dir string) {
		for day := 1; day <= 3; day++ {
			writeOn(t, dir, day, plain, nil)
		}
	}
	for name, tc := range map[string]struct {
		keep    int
		given   func(t *testing.T, dir string)
		removed []string
		left    map[string]string // of NotRemoved: a part of the reason
	}{
		"none is older":       {keep: 1},
		"as many as are kept": {keep: 4, given: three},
		"more than there are": {keep: 99, given: three},
		"the oldest":          {keep: 3, given: three, removed: []string{nameOn(1)}},
		"all but the newest":  {keep: 1, given: three, removed: []string{nameOn(1), nameOn(2), nameOn(3)}},
		"encrypted ones": {keep: 2, given: func(t *testing.T, dir string) {
			writeOn(t, dir, 1, sealed, nil)
			writeOn(t, dir, 2, plain, nil)
			writeOn(t, dir, 3, sealed, nil)
		}, removed: []string{nameOn(1) + suffix, nameOn(2)}},
		"never one that is not older": {keep: 1, given: func(t *testing.T, dir string) {
			file(t, filepath.Join(dir, nameOn(20)+suffix))
			file(t, filepath.Join(dir, nameOn(21)+suffix))
		}},
		"a newer one does not count": {keep: 2, given: func(t *testing.T, dir string) {
			file(t, filepath.Join(dir, nameOn(1)+suffix))
			file(t, filepath.Join(dir, nameOn(21)+suffix))
		}},
		"other names": {keep: 1, given: func(t *testing.T, dir string) {
			for _, name := range []string{"demo", nameOn(1) + ".old", "demo-two-20260101T030405Z.tar.age",
				nameOn(1) + suffix + ".part", nameOn(1) + ".unverified", ".incomplete-1" + suffix, "x" + nameOn(1) + suffix,
				"demo-20260101T030405.5Z" + suffix, nameOn(1) + suffix + suffix} {
				file(t, filepath.Join(dir, name))
			}
		}},
		"links": {keep: 1, given: func(t *testing.T, dir string) {
			elsewhere := t.TempDir()
			must(t, os.Symlink(filepath.Join(elsewhere, writeOn(t, elsewhere, 1, plain, nil)),
				filepath.Join(dir, nameOn(1))))
			file(t, filepath.Join(elsewhere, "sealed"))
			must(t, os.Symlink(filepath.Join(elsewhere, "sealed"), filepath.Join(dir, nameOn(2)+suffix)))
			writeOn(t, dir, 3, plain, nil)
			must(t, os.Rename(filepath.Join(dir, nameOn(3), backup.ManifestFile), filepath.Join(dir, "manifest")),
				os.Symlink(filepath.Join("..", "manifest"), filepath.Join(dir, nameOn(3), backup.ManifestFile)))
			writeOn(t, dir, 4, plain, nil)
			must(t, os.RemoveAll(filepath.Join(dir, nameOn(4), "objects")),
				os.Symlink(elsewhere, filepath.Join(dir, nameOn(4), "objects")))
			writeOn(t, dir, 5, plain, nil)
			listed, err := filepath.Glob(filepath.Join(dir, nameOn(5), "environment", "*"))
			must(t, err, os.Remove(listed[0]), os.Symlink(filepath.Join(elsewhere, "sealed"), listed[0]))
		}, left: map[string]string{nameOn(1): "a symbolic link", nameOn(2) + suffix: "a symbolic link",
			nameOn(3): "backup.json is not a regular file", nameOn(4): `"objects", which is not a part of it`,
			nameOn(5): `.yaml", which is not a part of it`}},
		"other things of that name": {keep: 1, given: func(t *testing.T, dir string) {
			file(t, filepath.Join(dir, nameOn(1)))
			must(t, os.Mkdir(filepath.Join(dir, nameOn(2)+suffix), 0o700),
				os.Mkdir(filepath.Join(dir, nameOn(3)), 0o700))
			file(t, filepath.Join(dir, nameOn(3), "notes.txt"))
			writeOn(t, dir, 4, plain, nil)
			file(t, filepath.Join(dir, nameOn(4), "notes.txt"))
			writeOn(t, dir, 5, plain, nil)
			must(t, os.Mkdir(filepath.Join(dir, nameOn(5), "more"), 0o700))
			writeOn(t, dir, 6, plain, nil)
			must(t, os.WriteFile(filepath.Join(dir, nameOn(6), backup.ManifestFile), []byte("{}"), 0o600))
		}, left: map[string]string{nameOn(1): "it is not a folder", nameOn(2) + suffix: "it is not a regular file",
			nameOn(3): "it has no backup.json", nameOn(4): `"notes.txt", which is not a part of it`,
			nameOn(5): "the folder more does not belong to it", nameOn(6): "backup.json: it has no format"}},
		"other clusters": {keep: 1, given: func(t *testing.T, dir string) {
			writeOn(t, dir, 1, plain, func(m *backup.Manifest) { m.Identity = backup.IdentityOf([]byte("another")) })
			writeOn(t, dir, 2, plain, func(m *backup.Manifest) { m.Identity = "" })
			writeOn(t, dir, 3, plain, func(m *backup.Manifest) { m.Namespace, m.Workloads = "other", nil })
			other := writeOn(t, dir, 4, plain, func(m *backup.Manifest) { m.Cluster, m.Workloads = "other", nil })
			must(t, os.Rename(filepath.Join(dir, other), filepath.Join(dir, nameOn(4))))
		}, left: map[string]string{nameOn(1): "another cluster of this name", nameOn(2): "it is not known whether",
			nameOn(3): "it is a backup of Cluster other/demo", nameOn(4): "it is a backup of Cluster ns/other"}},
		"what is not known to be one does not count": {keep: 2, given: func(t *testing.T, dir string) {
			writeOn(t, dir, 1, plain, nil)
			writeOn(t, dir, 2, plain, nil)
			must(t, os.Mkdir(filepath.Join(dir, nameOn(3)), 0o700))
		}, removed: []string{nameOn(1)}, left: map[string]string{nameOn(3): "it has no backup.json"}},
		"half removed": {keep: 1, given: func(t *testing.T, dir string) {
			writeOn(t, dir, 1, plain, nil)
			must(t, os.RemoveAll(filepath.Join(dir, nameOn(1), "objects")))
		}, removed: []string{nameOn(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.given != nil {
				tc.given(t, dir)
			}
			before := namesIn(t, dir)
			from := t.TempDir() // next to a newer one it would get another name
			must(t, os.Rename(filepath.Join(from, writeOn(t, from, 20, plain, nil)), filepath.Join(dir, nameOn(20))))
			p, err := prune(t, dir, tc.keep)
			if diff := cmp.Diff(tc.removed, p.Removed); diff != "" || err != nil {
				t.Errorf("removed (-want +got), %v:\n%s", err, diff)
			}
			if len(p.NotRemoved) != len(tc.left) {
				t.Errorf("not removed: %v", p.NotRemoved)
			}
			for _, n := range p.NotRemoved {
				if want := tc.left[n.Path]; want == "" || !strings.Contains(n.Reason, want) {
					t.Errorf("%s is not removed: %q, want %q", n.Path, n.Reason, want)
				}
			}
			want := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(tc.removed, name) })
			want = append(want, nameOn(20))
			slices.Sort(want)
			if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// Nothing is removed next to what is not a backup of the cluster.
func TestPruneNeedsTheNewest(t *testing.T) {
	dir := t.TempDir()
	writeOn(t, dir, 1, backup.Recipients{}, nil)
	for name, keep := range map[string]int{"demo": 1, "other-20260120T030405Z": 1, nameOn(20): 0} {
		_, err := backup.Prune(filepath.Join(dir, name), content().Manifest, keep)
		if fault.CodeOf(err) != fault.BackupNotPruned || len(namesIn(t, dir)) != 1 {
			t.Errorf("%s, keep %d: %v", name, keep, err)
		}
	}
}
