package up

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// A path in a command that a person pastes stays one word.
func TestPathsInCommandsAreQuoted(t *testing.T) {
	const path = "/my state/kubeconfig; id"
	for command, text := range map[string]string{
		"--to-kubeconfig ": fault.HintOf(lost(request{kubeconfig: path}, "it is gone").refusal),
		"kind get kubeconfig --name demo-bootstrap >": missingKubeconfig(path, "demo-bootstrap"),
	} {
		if !strings.Contains(text, command+"'"+path+"'") {
			t.Errorf("%s: %s", command, text)
		}
	}
}
