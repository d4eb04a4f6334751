package backup_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filippo.io/age"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

const secretFile = "objects/Secret_ns_demo-ca.yaml"

// edit changes the manifest in a backup's folder.
func edit(t *testing.T, folder string, change func(map[string]any)) {
	t.Helper()
	path := filepath.Join(folder, backup.ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	text, err = json.Marshal(m)
	must(t, err, os.WriteFile(path, text, 0o600))
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNotWhatWasWrittenIsRefused(t *testing.T) {
	files := func(m map[string]any) map[string]any { return m["files"].(map[string]any) }
	workload := func(field string, value any) func(*testing.T, string) {
		return func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) { m["workloads"].([]any)[0].(map[string]any)[field] = value })
		}
	}
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, folder string)
		want  string
	}{
		"a missing file": {func(t *testing.T, f string) { must(t, os.Remove(filepath.Join(f, secretFile))) },
			secretFile + " is missing"},
		"a changed file": {func(t *testing.T, f string) {
			must(t, os.WriteFile(filepath.Join(f, secretFile), []byte("kind: Secret\npassword: "+password), 0o600))
		}, secretFile + " was changed"},
		"an extra file": {func(t *testing.T, f string) {
			must(t, os.WriteFile(filepath.Join(f, "objects", "more.yaml"), nil, 0o600))
		}, "objects/more.yaml does not belong to it"},
		"an additional file": {func(t *testing.T,
			f string) {
			must(t, os.WriteFile(filepath.Join(f, ".DS_Store"), nil, 0o600))
		}, ".DS_Store does not belong to it"},
		"an extra folder": {func(t *testing.T, f string) { must(t, os.Mkdir(filepath.Join(f, "more"), 0o700)) },
			"more does not belong to it"},
		"a link out of it": {func(t *testing.T, f string) {
			elsewhere := filepath.Join(t.TempDir(), "copy")
			must(t, os.Rename(filepath.Join(f, secretFile), elsewhere),
				os.Symlink(elsewhere, filepath.Join(f, secretFile)))
		}, secretFile + " is not a regular file"},
		"a pipe": {func(t *testing.T, f string) {
			must(t, os.Remove(filepath.Join(f, secretFile)), syscall.Mkfifo(filepath.Join(f, secretFile), 0o600))
		}, secretFile + " is not a regular file"},
		"a linked folder": {func(t *testing.T, f string) {
			elsewhere := filepath.Join(t.TempDir(), "copy")
			must(t, os.Rename(filepath.Join(f, "objects"), elsewhere),
				os.Symlink(elsewhere, filepath.Join(f, "objects")))
		}, "objects is not a regular file"},
		"no manifest": {func(t *testing.T,
			f string) {
			must(t, os.Remove(filepath.Join(f, backup.ManifestFile)))
		}, "backup.json is missing"},
		"half a manifest": {func(t *testing.T,
			f string) {
			must(t, os.Truncate(filepath.Join(f, backup.ManifestFile), 40))
		}, "backup.json is not the JSON of a backup"},
		"a newer format": {func(t *testing.T,
			f string) {
			edit(t, f, func(m map[string]any) { m["format"] = 4; m["new"] = true })
		}, "format 4"},
		"no format": {func(t *testing.T,
			f string) {
			edit(t, f, func(m map[string]any) { delete(m, "format") })
		}, "no format"},
		"an unknown field": {func(t *testing.T,
			f string) {
			edit(t, f, func(m map[string]any) { m["new"] = true })
		}, "not the JSON of a backup"},
		"no objects": {func(t *testing.T,
			f string) {
			edit(t, f, func(m map[string]any) { m["files"] = map[string]any{} })
		}, "lists no objects"},
		"a path out of it": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) { files(m)["objects/../../x.yaml"] = files(m)[secretFile] })
		}, "not a path of a file in a backup"},
		"an absolute path": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) { files(m)["/etc/x.yaml"] = files(m)[secretFile] })
		}, "not a path of a file in a backup"},
		"a name with separators": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) { files(m)[`objects/..\x.yaml`] = files(m)[secretFile] })
		}, "not a path of a file in a backup"},
		"a digest that is none": {func(t *testing.T,
			f string) {
			edit(t, f, func(m map[string]any) { files(m)[secretFile] = "abc" })
		}, "digest of " + secretFile},
		"a workload cluster outside of any namespace": {workload("namespace", "../team-a"),
			"the namespace of a workload cluster is not a valid name"},
		"a workload cluster without a name": {workload("cluster", ""), "a workload cluster has not a valid name"},
		"a workload cluster among the parts of Kubernetes": {workload("namespace", "kube-system"),
			"belongs to Kubernetes or Flux"},
		"a workload cluster among the parts of Flux": {workload("namespace", "flux-system"),
			"belongs to Kubernetes or Flux"},
		"a workload cluster of another management cluster": {workload("managedBy", "ns/other"),
			"another management cluster than ns/demo"},
		"a workload cluster twice": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) {
				all := m["workloads"].([]any)
				m["workloads"] = append(all, all[0])
			})
		}, "lists cluster team-a/shop twice"},
		"an identity that is none": {func(t *testing.T,
			f string) {
			edit(t, f, func(m map[string]any) { m["identity"] = "me" })
		}, "identity"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, t.TempDir(), content(), backup.Recipients{})
			tc.spoil(t, folder)
			_, err := backup.Open(folder, backup.Identities{})
			if fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), tc.want) ||
				!strings.Contains(err.Error(), folder) || fault.HintOf(err) == "" {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), password) {
				t.Errorf("it repeats what is secret: %v", err)
			}
		})
	}
	if _, err := backup.Open(filepath.Join(t.TempDir(), "nowhere"), backup.Identities{}); fault.CodeOf(
		err) != fault.BackupInvalid {
		t.Errorf("what is not there: %v", err)
	}
}

func TestAnEncryptedBackupThatWasChangedIsRefused(t *testing.T) {
	public, key := keyPair(t)
	ids, err := backup.ReadIdentities(key)
	must(t, err)
	whole, err := os.ReadFile(write(t, t.TempDir(), content(), recipients(t, public)))
	must(t, err)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-20] ^= 1
	for name, text := range map[string][]byte{"truncated": whole[:len(whole)-30], "truncated in its head": whole[:50],
		"changed": flipped, "empty": nil, "longer": append(bytes.Clone(whole), 0)} {
		file := filepath.Join(t.TempDir(), "demo-20260102T030405Z.tar.age")
		must(t, os.WriteFile(file, text, 0o600))
		if _, err := backup.Open(file, ids); fault.CodeOf(err) != fault.BackupInvalid ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An archive is made by whoever knows the public key.
func TestAnArchiveLeadsNowhereElse(t *testing.T) {
	public, key := keyPair(t)
	ids, err := backup.ReadIdentities(key)
	must(t, err)
	for name, tc := range map[string]struct {
		headers []tar.Header
		want    string
	}{
		"two folders": {[]tar.Header{{Name: "a/backup.json"}, {Name: "b/backup.json"}},
			"outside of its folder"},
		"out of the folder": {[]tar.Header{{Name: "a/objects/../../x.yaml"}}, "not a path of a file in a backup"},
		"a link": {[]tar.Header{{Name: "a/objects/x.yaml", Typeflag: tar.TypeSymlink,
			Linkname: "/etc/passwd"}}, "not a regular file"},
		"a file twice":        {[]tar.Header{{Name: "a/backup.json"}, {Name: "a/backup.json"}}, "twice"},
		"a folder of its own": {[]tar.Header{{Name: "a/x/", Typeflag: tar.TypeDir}}, "does not belong to it"},
		"nothing":             {nil, "backup.json is missing"},
	} {
		file := filepath.Join(t.TempDir(), "x.tar.age")
		f, err := os.Create(file)
		must(t, err)
		to, err := age.ParseX25519Recipient(public)
		must(t, err)
		sealed, err := age.Encrypt(f, to)
		must(t, err)
		archive := tar.NewWriter(sealed)
		for _, h := range tc.headers {
			must(t, archive.WriteHeader(&h))
		}
		must(t, archive.Close(), sealed.Close(), f.Close())
		if _, err := backup.Open(file, ids); fault.CodeOf(err) != fault.BackupInvalid ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// An object of a forged backup must not make its reader run out of memory.
func TestObjectsAreReadWithinBounds(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: demo-ca}\n"
	for name, text := range map[string]string{
		"aliases":  secret + "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n",
		"brackets": secret + "a: [" + strings.Repeat("[],", 1<<20) + "]\n",
	} {
		path := write(t, t.TempDir(), content(), backup.Recipients{})
		must(t, os.WriteFile(filepath.Join(path, secretFile), []byte(text), 0o600))
		edit(t, path, func(m map[string]any) {
			m["files"].(map[string]any)[secretFile] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		})
		_, err := backup.Open(path, backup.Identities{})
		if fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A large file costs its author nothing, and is refused before it is held in memory.
func TestALargeFileOfABackupIsRefused(t *testing.T) {
	for _, name := range []string{secretFile, backup.ManifestFile, "objects/more.yaml"} {
		path := write(t, t.TempDir(), content(), backup.Recipients{})
		must(t, os.WriteFile(filepath.Join(path, name), nil, 0o600), os.Truncate(filepath.Join(path, name), 512<<20))
		_, err := backup.Open(path, backup.Identities{})
		if fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
