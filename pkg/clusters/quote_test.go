package clusters

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// A path in a command that a person pastes stays one word.
func TestPathsInCommandsAreQuoted(t *testing.T) {
	w := &World{}
	w.BootstrapKubeconfig = "/my state/kubeconfig; id"
	for what, err := range map[string]error{
		"another management cluster": w.buildsAnother("other"),
		"no certificate authority":   candidate{named: w.BootstrapKubeconfig, truth: &candidate{}}.incomparable("h"),
	} {
		if !strings.Contains(fault.HintOf(err), "--kubeconfig '/my state/kubeconfig; id'") {
			t.Errorf("%s: %s", what, fault.HintOf(err))
		}
	}
}
