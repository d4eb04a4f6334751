package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// bootstrapCluster makes the temporary cluster that builds the management cluster.
func (u *Up) bootstrapCluster() pipeline.Phase {
	return pipeline.Phase{
		Name: "bootstrap-cluster", Title: "bootstrap cluster", Needs: []string{"registry"}, Timeout: 10 * time.Minute,
		Check: func(ctx context.Context) (pipeline.Status, error) {
			switch {
			case u.found.pivoted:
				return u.done("not needed any more, the management cluster holds its own definition")
			case u.BootstrapKubeconfig != "" && u.found.bootstrap == nil:
				return pipeline.Status{}, fault.New(fault.ClusterUnreachable, "the cluster of --bootstrap-kubeconfig does not answer", "Check its address and credentials: kubectl --kubeconfig "+u.BootstrapKubeconfig+" get nodes")
			case u.found.bootstrap != nil:
				return pipeline.Status{State: pipeline.Done, Message: "reusing the one that answers"}, u.writeMirrors(ctx)
			}
			return pipeline.Status{}, nil
		},
		Run: u.createBootstrapCluster,
	}
}

func (u *Up) createBootstrapCluster(ctx context.Context, report pipeline.Reporter) error {
	exists, err := u.bootstrapExists(ctx)
	if err != nil {
		return err
	}
	if exists { // ours, but it does not answer: an earlier run was cut off while kind made it
		report.Progress("deleting the unfinished kind cluster %s", u.BootstrapName())
		if err := u.Kind.Delete(ctx, u.BootstrapName()); err != nil {
			return err
		}
	}
	report.Progress("creating the kind cluster %s", u.BootstrapName())
	config := kind.Config{
		Name: u.BootstrapName(), Environment: u.Environment.ClusterName(), NodeImage: u.nodeImage(),
		APIServerPort: u.APIServerPort, DockerSocket: u.Environment.DockerSocket(),
	}
	if err := u.Kind.Create(ctx, config, 5*time.Minute); err != nil {
		return err
	}
	if u.found.bootstrap, err = u.connectBootstrap(ctx); err != nil {
		return fmt.Errorf("connecting to the new bootstrap cluster: %w", err)
	}
	return u.writeMirrors(ctx)
}

func (u *Up) nodeImage() string {
	if u.NodeImage == "" && u.Bundle != nil {
		return u.Bundle.Index.NodeImage
	}
	return u.NodeImage
}
