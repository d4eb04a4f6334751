package up

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/registry"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// images loads what the Docker engine itself runs, the node image and the load balancer, from the bundle.
func (u *Run) images() pipeline.Phase {
	return pipeline.Phase{
		Name: "images", Title: "node images from the bundle", Timeout: 10 * time.Minute,
		Check: func(context.Context) (pipeline.Status, error) {
			if u.Bundle == nil {
				return u.done("no bundle: they come from their registries")
			}
			return pipeline.Status{}, nil
		},
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return bundle.LoadImages(ctx, u.Docker, u.Bundle, u.Bundle.References(bundle.LoadDocker), progress(report, "loading"))
		},
	}
}

func progress(report pipeline.Reporter, verb string) bundle.Progress {
	return func(done, total int, what string) {
		if what != "" {
			report.Progress("%s %d of %d: %s", verb, done+1, total, what)
		}
	}
}

// registry starts the registry that lives beside the clusters and fills it: with the content that Flux syncs from, and
// with the bundle's images.
func (u *Run) registry() pipeline.Phase {
	return pipeline.Phase{
		Name: "registry", Title: "registry and content", Timeout: 10 * time.Minute,
		Check: func(context.Context) (pipeline.Status, error) {
			if u.Bundle == nil && u.Source.Kind != source.Embedded {
				return u.done("not needed: Flux reads from " + string(u.Source.Kind))
			}
			return pipeline.Status{}, nil
		},
		Run: u.fillRegistry,
	}
}

func (u *Run) fillRegistry(ctx context.Context, report pipeline.Reporter) error {
	image, err := registry.EnsureImage(ctx, u.Docker, u.Binary)
	if err != nil {
		return err
	}
	if err := u.Docker.ProbePrivileged(ctx, image, "--version"); err != nil {
		return err
	}
	r, err := registry.EnsureRegistry(ctx, u.Docker, registry.EnsureOptions{Cluster: u.Environment.ClusterName(), Binary: u.Binary})
	if err != nil {
		return err
	}
	defer r.Close()
	report.Progress("registry %s is running", r.Name)
	target := oci.Target{Prefix: r.Host, Insecure: true, Options: r.RemoteOptions()}
	if u.Bundle != nil {
		if err := bundle.FillRegistry(ctx, target, u.Bundle, u.Bundle.References(bundle.LoadRegistry), progress(report, "pushing")); err != nil {
			return err
		}
	}
	if u.Source.Kind != source.Embedded {
		return nil
	}
	paths, err := u.Environment.ComponentPaths()
	if err != nil {
		return err
	}
	p, err := content.Publish(ctx, target, content.PublishOptions{FS: u.Content, Profile: u.Profile, Paths: paths, Fetch: u.Manifests})
	if err != nil {
		return fmt.Errorf("publishing the content: %w", err)
	}
	u.found.published = p
	report.Progress("published %s and %s", p.Content.Ref(), p.Chart.Ref())
	return nil
}

// writeMirrors has the bootstrap cluster's node pull through the mirrors; containerd reads the files at each pull.
func (u *Run) writeMirrors(ctx context.Context) error {
	if u.BootstrapKubeconfig != "" {
		return nil // not our node to write into
	}
	node := kind.NodeName(u.BootstrapName())
	for _, m := range u.Mirrors {
		folder := "/etc/containerd/certs.d/" + m.Host
		err := u.Docker.Exec(ctx, node, []string{"sh", "-c", `mkdir -p "$0" && cat > "$0/hosts.toml"`, folder},
			docker.ExecOptions{Stdin: bytes.NewReader([]byte(m.HostsTOML()))})
		if err != nil {
			return fmt.Errorf("writing the mirror of %s into node %s: %w", m.Host, node, err)
		}
	}
	return nil
}
