package clusters

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, fmt.Errorf("register Kubernetes' kinds: %w", err)
	}
	return s, flux.AddToScheme(s)
}

// Connect makes a connection to a cluster, with the kinds that a run reads. It sends no request yet.
func Connect(name string, kubeconfig []byte) (*kube.Cluster, error) {
	s, err := scheme()
	if err != nil {
		return nil, err
	}
	return kube.Connect(name, kubeconfig, s)
}

// connectBootstrap connects to the bootstrap cluster. It fails if there is none that answers.
func (w *World) connectBootstrap(ctx context.Context) (*kube.Cluster, error) {
	var kubeconfig []byte
	var err error
	if w.BootstrapKubeconfig != "" {
		kubeconfig, err = kube.ReadFile(w.BootstrapKubeconfig)
		if err == nil && kubeconfig == nil {
			err = fmt.Errorf("%s is empty", w.BootstrapKubeconfig)
		}
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("read --bootstrap-kubeconfig: %w", err), fault.Usage,
				cmp.Or(fault.HintOf(err), "Name a file that holds a kubeconfig."))
		}
	} else {
		kubeconfig, err = w.Kind.Kubeconfig(ctx, w.BootstrapName())
		if err == nil && w.ReachedAt() != "" {
			kubeconfig, err = kube.WithHost(kubeconfig, w.ReachedAt())
		}
		if err != nil {
			return nil, err
		}
	}
	c, err := Connect(BootstrapName, kubeconfig)
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

// managementKubeconfig reads the management cluster's kubeconfig from a cluster that holds its definition. It returns
// false while there is none.
func (w *World) managementKubeconfig(ctx context.Context, holder *kube.Cluster) ([]byte, bool, error) {
	return capi.Kubeconfig(ctx, holder, client.ObjectKey{Namespace: w.Namespace,
		Name: w.Cluster})
}

// ConnectManagement connects to the management cluster by the Secret that Cluster API keeps in the bootstrap cluster,
// and saves the kubeconfig for the user.
func (w *World) ConnectManagement(ctx context.Context) error {
	if w.management != nil {
		return nil
	}
	kubeconfig, found, err := w.managementKubeconfig(ctx, w.bootstrap)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("the bootstrap cluster has no kubeconfig of Cluster %s yet", w.Cluster)
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

// AdoptBootstrap connects to the new bootstrap cluster, records it in the state folder, and takes its lease.
func (w *World) AdoptBootstrap(ctx context.Context, report pipeline.Reporter) error {
	c, err := w.connectBootstrap(ctx)
	if err != nil {
		return fmt.Errorf("connect to the new bootstrap cluster: %w", err)
	}
	w.bootstrap = c
	if err := w.KeepBootstrapKubeconfig(c); err != nil {
		return err
	}
	// while this file exists, no run with this state folder has deleted the bootstrap cluster after a pivot
	if w.BootstrapKubeconfig == "" {
		if err := writeFile(w.builtPath(), nil); err != nil {
			return err
		}
	}
	_, err = w.TakeLease(ctx, c, report)
	return err
}
