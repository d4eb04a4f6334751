package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/restore/quorum"
)

// A restore whose etcd was started is resumed, with the same snapshot and while the cluster has a majority. Every other
// result of the check stays what it is.
func TestARestoreThatWasInterruptedIsResumed(t *testing.T) {
	ours := &backup.Backup{Snapshot: []byte("ours")}
	majority := fmt.Errorf("restore: %w", quorum.ErrMajority)
	gone := errors.New("no machine")
	for name, tc := range map[string]struct {
		marked  *backup.Backup // by an earlier run; nil: none
		text    string         // of the file, instead
		checked error
		want    string
		err     error
		code    fault.Code
	}{
		"nothing began":                       {},
		"nothing began, and nothing is lost":  {checked: majority, err: majority},
		"etcd was started":                    {marked: ours, checked: majority, want: "cp-b"},
		"etcd was started, and is lost again": {marked: ours},
		"another snapshot": {marked: &backup.Backup{Snapshot: []byte("theirs")}, checked: majority,
			err: majority},
		"a check that fails":             {marked: ours, checked: gone, err: gone},
		"half a file":                    {text: `{"snapshot":`, checked: majority, code: fault.RestoreFailed},
		"half a file, and nothing began": {text: `{"snapshot":`},
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "mgmt")
			if tc.marked != nil {
				if err := markOf(tc.marked, state).write("cp-b"); err != nil {
					t.Fatal(err)
				}
			}
			if tc.text != "" {
				if err := errors.Join(os.Mkdir(state, 0o700), os.WriteFile(filepath.Join(state, "etcd-restore.json"),
					[]byte(tc.text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			mark := markOf(ours, state)
			got, err := mark.resumes(tc.checked)
			if got != tc.want || tc.err != nil && !errors.Is(err, tc.err) ||
				tc.code != "" && fault.CodeOf(err) != tc.code ||
				(err != nil) != (tc.err != nil || tc.code != "") {
				t.Errorf("%q, %v", got, err)
			}
			if err := mark.remove(); err != nil {
				t.Error(err)
			}
			if got, err := mark.resumes(majority); got != "" || !errors.Is(err, quorum.ErrMajority) {
				t.Errorf("after the end: %q, %v", got, err)
			}
		})
	}
}
