package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// A path in a command that a person pastes stays one word.
func TestThePathInACommandIsQuoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my kubeconfig")
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); !strings.Contains(fault.HintOf(err), "kubectl --kubeconfig '"+path+"' get nodes") {
		t.Errorf("%v, hint %s", err, fault.HintOf(err))
	}
}
