//go:build bench

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

func (f *floor) startRegistry(ctx context.Context) error {
	r, err := registry.EnsureRegistry(ctx, f.docker, registry.EnsureOptions{Cluster: f.env.ClusterName(),
		Binary: f.binary})
	if err != nil {
		return err
	}
	defer r.Close()
	return bundle.FillRegistry(ctx, oci.Target{Prefix: r.Host, Insecure: true, Options: r.RemoteOptions()}, f.bundle,
		f.images, nil)
}

// createKind makes the cluster that `up` makes, by the same names, so that `cleanup` finds it. It does not wait for
// the node: pods do that.
func (f *floor) createKind(ctx context.Context) error {
	name := owned.BootstrapCluster(f.env.ClusterName())
	err := f.kind.Create(ctx, kind.Config{
		Name: name, Markers: []string{owned.Marker(f.env.ClusterName())}, NodeImage: f.bundle.Index.NodeImage,
		DockerSocket: f.env.Spec().Cluster.DockerSocket(),
	}, 0, nil)
	if err != nil {
		return err
	}
	for _, m := range f.mirrors {
		err := f.docker.Exec(ctx, kind.NodeName(name), []string{"sh", "-c", `mkdir -p "$0" && cat > "$0/hosts.toml"`,
			"/etc/containerd/certs.d/" + m.Host},
			docker.ExecOptions{Stdin: strings.NewReader(m.HostsTOML())})
		if err != nil {
			return fmt.Errorf("mirror of %s: %w", m.Host, err)
		}
	}
	kubeconfig, err := f.kind.Kubeconfig(ctx, name)
	if err != nil {
		return err
	}
	if f.temporary, err = kube.Connect("bootstrap", kubeconfig, clientgoscheme.Scheme); err != nil {
		return err
	}
	return until(ctx, "the API server of the kind cluster", f.temporary.Reachable)
}

// defineCluster applies everything in the bootstrap cluster. Certificates and issuers wait in apply for cert-manager's
// webhook, the cluster definition for those of the providers.
func (f *floor) defineCluster(ctx context.Context) error {
	m := f.bootstrap
	return f.apply(ctx, f.temporary, slices.Concat(m.namespaces, m.certManager, m.providers, m.cluster)...)
}

func (f *floor) awaitControlPlane(ctx context.Context) error {
	key := client.ObjectKey{Namespace: f.env.ClusterNamespace(), Name: f.env.ClusterName()}
	return until(ctx, "the API server of the management cluster", func(ctx context.Context) error {
		kubeconfig, found, err := capi.Kubeconfig(ctx, f.temporary, key)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("no kubeconfig of Cluster %s", key)
		}
		if f.target, err = kube.Connect("management", kubeconfig, clientgoscheme.Scheme); err != nil {
			return err
		}
		return f.target.Reachable(ctx)
	})
}

func (f *floor) installProviders(ctx context.Context) error {
	m := f.management
	if err := f.apply(ctx, f.target, slices.Concat(m.namespaces, m.cni, m.certManager, m.providers)...); err != nil {
		return err
	}
	if err := acceptable(ctx, f.target, m.cluster...); err != nil {
		return err
	}
	return until(ctx, "the providers of the management cluster", func(ctx context.Context) error {
		providers, err := capi.Providers(ctx, f.target)
		if err == nil && len(providers) == 0 {
			err = errors.New("there is none")
		}
		for _, p := range providers {
			if !p.Ready {
				err = errors.Join(err, fmt.Errorf("%s: %s", p.Name, p.Message))
			}
		}
		return err
	})
}

// awaitMovable waits for what clusterctl itself demands before a move, and for no more.
func (f *floor) awaitMovable(ctx context.Context) error {
	return until(ctx, "the machines of the management cluster", func(ctx context.Context) error {
		clusters, err := capi.Clusters(ctx, f.temporary, f.env.ClusterNamespace())
		if err != nil {
			return err
		}
		machines, err := capi.Machines(ctx, f.temporary, f.env.ClusterNamespace())
		if err != nil {
			return err
		}
		if len(clusters) != 1 || !clusters[0].InfrastructureProvisioned || !clusters[0].ControlPlaneInitialized {
			return errors.New("its infrastructure or control plane is not there")
		}
		if want := f.env.Spec().Cluster.ControlPlane.Replicas + f.env.Spec().Cluster.WorkerCount(); len(
			machines) != want {
			return fmt.Errorf("%d machines of %d", len(machines), want)
		}
		for _, m := range machines {
			if m.Node == "" {
				return fmt.Errorf("machine %s has no node", m.Name)
			}
		}
		return nil
	})
}

func (f *floor) move(ctx context.Context) error {
	return capi.Move(ctx, capi.MoveInput{From: f.temporary.Config, To: f.target.Config,
		Namespace: f.env.ClusterNamespace()})
}

func (f *floor) deleteKind(ctx context.Context) error {
	return f.kind.Delete(ctx, owned.BootstrapCluster(f.env.ClusterName()))
}
