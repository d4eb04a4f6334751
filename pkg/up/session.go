package up

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// session holds what a run has found so far.
type session struct {
	bootstrap  *kube.Cluster
	management *kube.Cluster
	pivoted    bool // the management cluster holds its own definition
	engine     docker.Info
	published  content.Published // what the registry holds for Flux
}

// Requests returns how many API requests this run has sent so far to both clusters, the move included.
func (u *Run) Requests() int64 {
	var n int64
	for _, c := range []*kube.Cluster{u.found.bootstrap, u.found.management} {
		if c != nil {
			n += c.Requests()
		}
	}
	return n
}

const (
	bootstrapName  = "bootstrap"
	managementName = "management"
)

func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, fmt.Errorf("registering Kubernetes' kinds: %w", err)
	}
	return s, flux.AddToScheme(s)
}

func connect(name string, kubeconfig []byte) (*kube.Cluster, error) {
	s, err := scheme()
	if err != nil {
		return nil, err
	}
	return kube.Connect(name, kubeconfig, s)
}

// connectBootstrap connects to the bootstrap cluster if there is one that answers.
func (u *Run) connectBootstrap(ctx context.Context) (*kube.Cluster, error) {
	var kubeconfig []byte
	var err error
	if u.BootstrapKubeconfig != "" {
		kubeconfig, err = os.ReadFile(u.BootstrapKubeconfig)
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("reading --bootstrap-kubeconfig: %w", err), fault.Usage, "Name a file that holds a kubeconfig.")
		}
	} else {
		kubeconfig, err = u.Kind.Kubeconfig(ctx, u.BootstrapName())
		if err == nil && u.engineAddress() != "" {
			kubeconfig, err = kube.WithHost(kubeconfig, u.engineAddress())
		}
		if err != nil {
			return nil, err
		}
	}
	c, err := connect(bootstrapName, kubeconfig)
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

// managementKubeconfig reads the management cluster's kubeconfig from the bootstrap cluster; false while it has none.
func (u *Run) managementKubeconfig(ctx context.Context, bootstrap *kube.Cluster) ([]byte, bool, error) {
	return capi.Kubeconfig(ctx, bootstrap, client.ObjectKey{Namespace: u.Environment.ClusterNamespace(), Name: u.Environment.ClusterName()})
}

// connectManagement connects to the management cluster by the Secret that Cluster API keeps in the bootstrap cluster,
// and saves the kubeconfig for the user.
func (u *Run) connectManagement(ctx context.Context) error {
	if u.found.management != nil {
		return nil
	}
	kubeconfig, found, err := u.managementKubeconfig(ctx, u.found.bootstrap)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("the bootstrap cluster has no kubeconfig of Cluster %s yet", u.Environment.ClusterName())
	}
	c, err := u.reach(ctx, kubeconfig)
	if err != nil {
		return err
	}
	if err := u.save(c.Kubeconfig); err != nil {
		return err
	}
	u.found.management = c
	return nil
}
