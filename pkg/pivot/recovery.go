package pivot

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Err returns nil unless the pivot is interrupted. Then it is a fault with the code fault.PivotFailed which says what
// is where; its hint holds the commands that lead out. The commands name the kubeconfig files of the two sides.
func (s State) Err(source, target Side, scope Scope) error {
	if s.Phase != Interrupted {
		return nil
	}
	err := fmt.Errorf("an earlier move of Cluster %s/%s was interrupted (%s): %d of its objects are at the source, %d on the target",
		scope.Namespace, scope.Cluster, s.Stage, len(s.Source.Objects), len(s.Target.Objects))
	return fault.Wrap(err, fault.PivotFailed, s.wayOut(source, target, scope))
}

func (s State) wayOut(source, target Side, scope Scope) string {
	resume := func(side Side, clusters []capi.Cluster) string {
		var lines []string
		for _, c := range clusters {
			if c.Paused {
				lines = append(lines, kubectl(side, scope)+" patch clusters.cluster.x-k8s.io "+c.Name+
					` --type merge -p '{"spec":{"paused":null},"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}'`)
			}
		}
		return strings.Join(lines, "\n")
	}
	const again = "\nThen run the same command again."
	switch s.Stage {
	case StagePaused:
		return "Nothing was moved yet, the Clusters are only paused. Resume them at the source:\n" +
			resume(source, s.Source.Clusters) + again
	case StageCopying:
		return "The source still has everything. Resume it, and let clusterctl repeat the move, which overwrites the part that is on the target:\n" +
			joinLines(resume(source, s.Source.Clusters), clusterctlMove(source, target, scope)) + again
	case StageCopied, StageResuming:
		return "The target has everything, paused. Resume it there, and do not resume what is left at the source:\n" +
			resume(target, s.Target.Clusters) + again
	}
	return "Two clusters may be managing the same machines. Pause the one that should not, compare both, and keep the backup:\n" +
		joinLines(kubectl(source, scope)+" get cluster-api", kubectl(target, scope)+" get cluster-api",
			kubectl(source, scope)+" patch clusters.cluster.x-k8s.io "+scope.Cluster+` --type merge -p '{"spec":{"paused":true}}'`)
}

func kubectl(side Side, scope Scope) string {
	return "kubectl" + option("--kubeconfig", side.Kubeconfig) + " -n " + scope.Namespace
}

func clusterctlMove(source, target Side, scope Scope) string {
	return "clusterctl move" + option("--kubeconfig", source.Kubeconfig) +
		option("--to-kubeconfig", target.Kubeconfig) + " -n " + scope.Namespace
}

func option(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + " '" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

func joinLines(lines ...string) string {
	var kept []string
	for _, l := range lines {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}
