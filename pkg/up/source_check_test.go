package up

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// A Git source is checked before a phase checks whether it may apply the definition. Nothing lies between that check
// and the release. Other sources need no cluster for this.
func TestAGitSourceIsCheckedBeforeTheDefinitionIsApplied(t *testing.T) {
	for kind, checked := range map[source.Kind]bool{source.Git: true, source.OCI: false, source.Embedded: false} {
		r := releases{source: source.Source{Kind: kind}}
		var confirmed decision
		w := confirmingWorld{seenWorld{seen: beforePivot}, &confirmed}
		err := managementCluster{world: w, releases: r}.run(t.Context(), silence{})
		if (confirmed == "") != checked || strings.Contains(err.Error(), "no "+clusters.BootstrapName+
			" cluster") != checked {
			t.Errorf("%s, bootstrap cluster: confirmed %q, %v", kind, confirmed, err)
		}
		// Without the check the run ends with another error.
		err = definition{world: seenWorld{seen: finish}, releases: r}.run(t.Context(), silence{})
		if strings.Contains(err.Error(), "no "+clusters.ManagementName+" cluster") != checked {
			t.Errorf("%s, management cluster: %v", kind, err)
		}
	}
}
