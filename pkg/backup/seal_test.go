package backup_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestSealAndOpen(t *testing.T) {
	identity := func() (*age.X25519Identity, backup.Identities) {
		key, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "key.txt")
		if err := os.WriteFile(path, []byte(key.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		ids, err := backup.ReadIdentities(path)
		if err != nil {
			t.Fatal(err)
		}
		return key, ids
	}
	key, opens := identity()
	_, other := identity()
	to, err := backup.ParseRecipients("--recipient", []string{key.Recipient().String()})
	if err != nil {
		t.Fatal(err)
	}
	seal := func(to backup.Recipients) []byte {
		var out bytes.Buffer
		w, err := to.Seal(&out)
		if err == nil {
			_, err = io.WriteString(w, "a text")
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if got := seal(backup.Recipients{}); string(got) != "a text" {
		t.Errorf("without recipients: %q", got)
	}
	sealed := seal(to)
	if bytes.Contains(sealed, []byte("a text")) {
		t.Error("it is not encrypted")
	}
	plain, err := opens.Open(bytes.NewReader(sealed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(plain); err != nil || string(got) != "a text" {
		t.Errorf("%q, %v", got, err)
	}
	for name, ids := range map[string]backup.Identities{"no key": {}, "another's": other} {
		if _, err := ids.Open(bytes.NewReader(sealed)); fault.CodeOf(err) != fault.Usage ||
			!strings.Contains(fault.HintOf(err), "--identity") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := backup.ParseRecipients("--recipient", []string{"age1nonsense"}); err == nil ||
		!strings.Contains(err.Error(), "read --recipient number 1") {
		t.Error(err)
	}
}
