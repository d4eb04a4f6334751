package up

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// world is where a run looks at what there is: the two clusters, the engine, the machines. It keeps connections, and no conclusions: whoever
// needs to know how far the clusters are looks again.
type world struct {
	Options
	Parts
	engine     docker.Info   // as it last described itself
	ahead      time.Duration // by how much the engine's clock was ahead of ours then; containers are dated by it
	bootstrap  *kube.Cluster // once it answered
	management *kube.Cluster // once it answered and was proven to be this one
}

// requests is how many API requests were sent so far to both clusters, the move included.
func (w *world) requests() int64 {
	var n int64
	for _, c := range []*kube.Cluster{w.bootstrap, w.management} {
		if c != nil {
			n += c.Requests()
		}
	}
	return n
}

// connected returns one of the two clusters, by its name; an error where none was seen to answer.
func (w *world) connected(name string) (*kube.Cluster, error) {
	c := map[string]*kube.Cluster{bootstrapName: w.bootstrap, managementName: w.management}[name]
	if c == nil {
		return nil, fmt.Errorf("no %s cluster has answered to this run", name)
	}
	return c, nil
}

// askEngine has the Docker engine describe itself.
func (w *world) askEngine(ctx context.Context) (docker.Info, error) {
	info, err := w.Docker.Info(ctx)
	if err != nil {
		return info, err
	}
	if w.engine = info; !info.Time.IsZero() {
		w.ahead = info.Time.Sub(w.Now())
	}
	return info, nil
}

const (
	bootstrapName  = "bootstrap"
	managementName = "management"
)

func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, fmt.Errorf("register Kubernetes' kinds: %w", err)
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
func (w *world) connectBootstrap(ctx context.Context) (*kube.Cluster, error) {
	var kubeconfig []byte
	var err error
	if w.BootstrapKubeconfig != "" {
		kubeconfig, err = os.ReadFile(w.BootstrapKubeconfig)
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("read --bootstrap-kubeconfig: %w", err), fault.Usage, "Name a file that holds a kubeconfig.")
		}
	} else {
		kubeconfig, err = w.Kind.Kubeconfig(ctx, w.BootstrapName())
		if err == nil && w.engineAddress() != "" {
			kubeconfig, err = kube.WithHost(kubeconfig, w.engineAddress())
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
func (w *world) managementKubeconfig(ctx context.Context, bootstrap *kube.Cluster) ([]byte, bool, error) {
	return capi.Kubeconfig(ctx, bootstrap, client.ObjectKey{Namespace: w.Environment.ClusterNamespace(), Name: w.Environment.ClusterName()})
}

// connectManagement connects to the management cluster by the Secret that Cluster API keeps in the bootstrap cluster,
// and saves the kubeconfig for the user.
func (w *world) connectManagement(ctx context.Context) error {
	if w.management != nil {
		return nil
	}
	kubeconfig, found, err := w.managementKubeconfig(ctx, w.bootstrap)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("the bootstrap cluster has no kubeconfig of Cluster %s yet", w.Environment.ClusterName())
	}
	c, err := w.reach(ctx, kubeconfig)
	if err != nil {
		return err
	}
	if err := w.save(c.Kubeconfig); err != nil {
		return err
	}
	w.management = c
	return nil
}

// adoptBootstrap connects to the bootstrap cluster that was made, and takes its lease.
func (w *world) adoptBootstrap(ctx context.Context, report pipeline.Reporter) error {
	c, err := w.connectBootstrap(ctx)
	if err != nil {
		return fmt.Errorf("connect to the new bootstrap cluster: %w", err)
	}
	w.bootstrap = c
	_, err = w.takeLease(ctx, c, report)
	return err
}
