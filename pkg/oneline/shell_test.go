package oneline_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

func TestShellKeepsOneWord(t *testing.T) {
	bash := prerequisite.Program(t, "bash")
	for _, word := range []string{"kubeadm-capd", "./my env", "a;id", "$(id)", "`id`", "a'b", `a\b`, "a\nhint:  b",
		"\x1b[2J", "a\u202eb", "", "~", "*", "!x", "grüße", "a\t'\\b"} {
		quoted := oneline.Shell(word)
		if strings.ContainsAny(quoted, "\n\x1b\u202e") {
			t.Errorf("%q becomes %q", word, quoted)
		}
		cmd := exec.Command(bash, "-c", "printf %s "+quoted)
		cmd.Env = []string{"LC_ALL=C.UTF-8"}
		got, err := cmd.Output()
		if err != nil || string(got) != word {
			t.Errorf("%q as %s is %q to a shell, %v", word, quoted, got, err)
		}
	}
	if oneline.Shell("kubeadm-capd") != "kubeadm-capd" {
		t.Error("a plain word is quoted")
	}
}
