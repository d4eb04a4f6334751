//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

func TestZZThree(t *testing.T) {
	l, project := openStackLab(t, "rke2-capo", resource.StandinImage)
	before := project.inventory(t)
	management, r := l.upOnOpenStack(t, project)
	t.Run("three servers by a commit", func(t *testing.T) {
		r.replace(t, "kustomize-components/cluster/"+l.name+"/control-plane.yaml", "${CONTROL_PLANE_REPLICAS:=1}", "3")
		r.push(t, "more servers")
		management.lookAtSource(t)
		eventually(t, "four nodes are ready", 8*time.Minute, func(ctx context.Context) bool { return management.readyNodes(ctx) == 4 })
		t.Log(project.names(t, openstack.KindServer))
		management.managesItself(t)
	})
	t.Run("cleanup", func(t *testing.T) { l.cleanupOpenStack(t, project, before) })
}
