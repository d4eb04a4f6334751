package health_test

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/health"
)

func TestLeftAsIs(t *testing.T) {
	for text, want := range map[string]bool{
		`{kind: KubeadmControlPlane}`: false,
		`{kind: KubeadmControlPlane, metadata: {annotations: {cluster.x-k8s.io/paused: ""}}}`: true,
		`{kind: MachineDeployment, spec: {rollout: {strategy: {type: RollingUpdate}}}}`:       false,
		`{kind: MachineDeployment, spec: {rollout: {strategy: {type: OnDelete}}}}`:            true,
		`{kind: Machine, metadata: {labels: {cluster.x-k8s.io/deployment-name: a}}}`:          false,
		`{kind: Machine, metadata: {labels: {cluster.x-k8s.io/pool-name: a}}}`:                false,
		`{kind: Machine, metadata: {labels: {cluster.x-k8s.io/control-plane: ""}}}`:           false,
		// a MachineSet alone replaces none
		`{kind: Machine, metadata: {labels: {cluster.x-k8s.io/set-name: a}}}`:                                                                                                                                                                true,
		`{kind: Machine, metadata: {annotations: {cluster.x-k8s.io/paused: ""}, labels: {cluster.x-k8s.io/control-plane: ""}}}`:                                                                                                              true,
		`{kind: Machine, metadata: {labels: {cluster.x-k8s.io/control-plane: ""}}, status: {conditions: [{type: UpToDate, status: "False", reason: NotUpToDate, message: "* Version v1.36.3, v1.36.4 required"}]}}`:                          false,
		`{kind: Machine, metadata: {labels: {cluster.x-k8s.io/control-plane: ""}}, status: {conditions: [{type: UpToDate, status: "False", reason: Updating, message: "* In-place update in progress"}]}}`:                                   false,
		`{kind: Machine, metadata: {labels: {cluster.x-k8s.io/control-plane: ""}}, status: {conditions: [{type: UpToDate, status: "False", reason: Updating, message: "* Node.status.nodeInfo.kubeletVersion v1.36.3, v1.36.4 required"}]}}`: true,
	} {
		if got := health.LeftAsIs(object(t, text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
