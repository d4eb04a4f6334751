package backup_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestABackupIsReadAsItWasWritten(t *testing.T) {
	public, key := keyPair(t)
	ids, err := backup.ReadIdentities(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]backup.Recipients{"a folder": {}, "encrypted": recipients(t, public)} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state", "demo")
			path := write(t, dir, content(), to)
			if want := filepath.Join(dir, "demo-20260102T030405Z"); strings.TrimSuffix(path, ".tar.age") != want {
				t.Errorf("it is at %s, want %s", path, want)
			}
			b, err := backup.Open(path, ids)
			if err != nil {
				t.Fatal(err)
			}
			if m := b.Manifest; m.Cluster != "demo" || m.Identity != content().Identity || m.Kubernetes != "v1.36.4" ||
				len(m.Files) != 5 || m.Format != 2 || len(m.Workloads) != 1 {
				t.Errorf("the manifest is %+v", m)
			}
			for section, want := range content().Sections {
				got := b.Section(section)
				if len(got) != len(want) || b.Manifest.Count(section) != len(want) {
					t.Fatalf("%s: %d objects, want %d", section, len(got), len(want))
				}
				if section == backup.Objects {
					paused, _, _ := unstructured.NestedBool(got[0].Object, "spec", "paused")
					big, _, _ := unstructured.NestedInt64(got[0].Object, "spec", "big")
					if !paused || big != 1<<60 || want[0].Object["spec"].(map[string]any)["paused"] != nil {
						t.Errorf("the Cluster is %v", got[0].Object)
					}
				}
			}
			if left := hidden(t, dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func hidden(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestABackupIsPrivate(t *testing.T) {
	public, _ := keyPair(t)
	dir := t.TempDir()
	plain := modes(t, write(t, dir, content(), backup.Recipients{}))
	if len(plain) != 5+5+1 {
		t.Errorf("it has %v", plain)
	}
	for name, mode := range plain {
		want := os.FileMode(0o600)
		if mode.IsDir() {
			want = 0o700
		}
		if mode.Perm() != want {
			t.Errorf("%s has %s, want %s", name, mode, want)
		}
	}
	file := write(t, dir, content(), recipients(t, public))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%s has %v, %v", file, info.Mode(), err)
	}
	for _, secret := range []string{password, "demo-ca", "Cluster"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the encrypted backup shows %q", secret)
		}
	}
}

// Names tell which backup is the newest, whatever the clock does.
func TestALaterBackupHasALaterName(t *testing.T) {
	dir := t.TempDir()
	public, _ := keyPair(t)
	var names []string
	for _, to := range []backup.Recipients{{}, recipients(t, public), {}} {
		names = append(names, filepath.Base(write(t, dir, content(), to)))
	}
	if want := []string{"demo-20260102T030405Z", "demo-20260102T030406Z.tar.age",
		"demo-20260102T030407Z"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	for name, spoil := range map[string]func(*backup.Content){
		"no objects":             func(c *backup.Content) { c.Sections[backup.Objects] = nil },
		"no cluster":             func(c *backup.Content) { c.Cluster = "" },
		"a name with separators": func(c *backup.Content) { c.Sections[backup.Objects][0].SetName("../../x") },
		"one object twice": func(
			c *backup.Content) {
			c.Sections[backup.Objects][1] = c.Sections[backup.Objects][0]
		},
	} {
		dir := t.TempDir()
		c := content()
		spoil(&c)
		if _, err := backup.Stage(dir, c, backup.Recipients{}, backup.Signer{}); err == nil {
			t.Errorf("%s: it was written", name)
		}
		if left := modes(t, dir); len(left) != 1 {
			t.Errorf("%s: left %v", name, left)
		}
	}
	s, err := backup.Stage(t.TempDir(), content(), backup.Recipients{}, backup.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(); err != nil || len(hidden(t, filepath.Dir(s.Path))) > 0 {
		t.Errorf("discarded: %v", err)
	}
}

func TestLongNamesAreFiles(t *testing.T) {
	c := content()
	for _, last := range []string{"a", "b"} {
		long := u("infrastructure.cluster.x-k8s.io/v1beta2", "DevMachineTemplate", strings.Repeat("x", 252)+last, nil)
		c.Sections[backup.Objects] = append(c.Sections[backup.Objects], long)
	}
	b, err := backup.Open(write(t, t.TempDir(), c, backup.Recipients{}), backup.Identities{})
	if err != nil || len(b.Section(backup.Objects)) != 4 {
		t.Fatal(err)
	}
}

func TestFits(t *testing.T) {
	m := content().Manifest
	fits := backup.Target{Namespace: "ns", Cluster: "demo", Identity: m.Identity,
		Providers: []backup.Provider{{Name: "cluster-api", Version: "v1.14.0"}, {Name: "more", Version: "v1"}}}
	for name, tc := range map[string]struct {
		edit func(*backup.Target)
		want string
	}{
		"the same":            {func(*backup.Target) {}, ""},
		"an unknown identity": {func(t *backup.Target) { t.Identity = "" }, ""},
		"another namespace":   {func(t *backup.Target) { t.Namespace = "other" }, "not of other/demo"},
		"another cluster":     {func(t *backup.Target) { t.Cluster = "other" }, "not of ns/other"},
		"an earlier life": {func(t *backup.Target) { t.Identity = backup.IdentityOf([]byte("b")) },
			"another certificate authority"},
		"another provider version": {func(t *backup.Target) { t.Providers[0].Version = "v1.13.0" },
			"cluster-api v1.14.0, and the target has v1.13.0"},
		"a provider is not there": {func(t *backup.Target) { t.Providers = t.Providers[1:] },
			"which the target does not have"},
		"all that can be wrong": {func(t *backup.Target) { *t = backup.Target{} }, "2 problems"},
	} {
		target := fits
		target.Providers = slices.Clone(fits.Providers)
		tc.edit(&target)
		err := m.Fits(target)
		if tc.want == "" && err == nil {
			continue
		}
		if tc.want == "" || fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), tc.want) ||
			fault.HintOf(err) == "" {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestTheIdentityDoesNotDependOnTheForm(t *testing.T) {
	one := "-----BEGIN CERTIFICATE-----\nYSBjZXJ0aWZpY2F0ZQ==\n-----END CERTIFICATE-----\n"
	if backup.IdentityOf([]byte(one)) != backup.IdentityOf([]byte("\n"+strings.ReplaceAll(one, "\n", "\r\n"))) {
		t.Error("another line end is another identity")
	}
	if backup.IdentityOf([]byte(one)) == backup.IdentityOf([]byte(strings.Replace(one, "YSB", "YSC", 1))) {
		t.Error("another certificate has the same identity")
	}
	if backup.IdentityOf(nil) != "" {
		t.Error("nothing has an identity")
	}
}
