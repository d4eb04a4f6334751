package up

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// bootstrapCluster makes the temporary cluster that builds the management cluster.
func (u *Run) bootstrapCluster() pipeline.Phase {
	return pipeline.Phase{
		Name: "bootstrap-cluster", Title: "bootstrap cluster", Timeout: 10 * time.Minute,
		Check: func(ctx context.Context) (pipeline.Status, error) {
			switch {
			case u.found.pivoted:
				return u.done("not needed any more, the management cluster holds its own definition")
			case u.found.bootstrap != nil:
				return pipeline.Status{State: pipeline.Done, Message: "reusing the one that answers"}, u.writeMirrors(ctx)
			}
			return pipeline.Status{}, nil
		},
		Run: u.createBootstrapCluster,
	}
}

func (u *Run) createBootstrapCluster(ctx context.Context, report pipeline.Reporter) error {
	o, err := u.confirm(ctx, fresh)
	if err != nil {
		return err
	}
	if o.bootstrap.state == bootstrapUnfinished {
		report.Progress("deleting the unfinished kind cluster %s", u.BootstrapName())
		if err := u.Kind.Delete(ctx, u.BootstrapName()); err != nil {
			return err
		}
	}
	if err := u.setAside(); err != nil {
		return err
	}
	id, err := lease.MakeID(u.StateFolder)
	if err != nil {
		return err
	}
	if err := u.ensureNetwork(ctx); err != nil {
		return err
	}
	report.Progress("creating the kind cluster %s", u.BootstrapName())
	if err := u.Kind.Create(ctx, u.kindConfig(id), 5*time.Minute); err != nil {
		return err
	}
	if err := u.Docker.Exec(ctx, kind.NodeName(u.BootstrapName()), []string{"touch", owned.FinishedMarker}, docker.ExecOptions{}); err != nil {
		return fmt.Errorf("marking the bootstrap cluster as finished: %w", err)
	}
	if u.found.bootstrap, err = u.connectBootstrap(ctx); err != nil {
		return fmt.Errorf("connecting to the new bootstrap cluster: %w", err)
	}
	if _, err := u.takeLease(ctx, u.found.bootstrap, report); err != nil {
		return err
	}
	return u.writeMirrors(ctx)
}

func (u *Run) kindConfig(id string) kind.Config {
	spec := u.Environment.Spec()
	return kind.Config{
		Name: u.BootstrapName(), Markers: []string{owned.Marker(u.Environment.ClusterName()), owned.MakerMarker(id)}, NodeImage: u.nodeImage(),
		APIServerAddress: u.apiServerAddress(), APIServerPort: u.APIServerPort, DockerSocket: spec.Cluster.DockerSocket(),
		Proxies: kind.Proxies{HTTP: spec.Proxies.HTTP, HTTPS: spec.Proxies.HTTPS, No: strings.TrimSuffix(u.Environment.NoProxy()+","+u.engineAddress(), ",")},
	}
}

func (u *Run) nodeImage() string {
	if u.NodeImage == "" && u.Bundle != nil {
		return u.Bundle.Index.NodeImage
	}
	return u.NodeImage
}
