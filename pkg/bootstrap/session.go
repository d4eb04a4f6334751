package bootstrap

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// session holds what a run has found so far.
type session struct {
	bootstrap  *kube.Cluster
	management *kube.Cluster
	pivoted    bool // the management cluster holds its own definition
	published  published
}

// Requests returns how many API requests this run has sent so far to both clusters, the move included.
func (u *Up) Requests() int64 {
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
func (u *Up) connectBootstrap(ctx context.Context) (*kube.Cluster, error) {
	var kubeconfig []byte
	var err error
	if u.BootstrapKubeconfig != "" {
		kubeconfig, err = os.ReadFile(u.BootstrapKubeconfig)
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("reading --bootstrap-kubeconfig: %w", err), fault.Usage, "Name a file that holds a kubeconfig.")
		}
	} else {
		kubeconfig, err = u.Kind.Kubeconfig(ctx, u.BootstrapName())
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

// connectSaved connects to the management cluster by the kubeconfig that an earlier run saved. It returns nil when
// there is none or when nothing that it names answers.
func (u *Up) connectSaved(ctx context.Context) *kube.Cluster {
	kubeconfig, err := os.ReadFile(u.KubeconfigPath)
	if err != nil {
		return nil
	}
	c, err := connect(managementName, kubeconfig)
	if err != nil || c.Reachable(ctx) != nil {
		return nil
	}
	return c
}

// reach returns the first form of kubeconfig whose endpoint answers from here: as it is, and else through the port
// that the load balancer's container publishes, for engines whose networks are not routed to this machine.
func (u *Up) reach(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	direct, err := connect(managementName, kubeconfig)
	if err != nil {
		return nil, err
	}
	unreachable := direct.Reachable(ctx)
	if unreachable == nil {
		return direct, nil
	}
	published, err := u.Docker.Port(ctx, u.Environment.ClusterName()+"-lb", "6443/tcp")
	if err != nil {
		return nil, unreachable
	}
	rewritten, err := withServer(kubeconfig, published)
	if err != nil {
		return nil, err
	}
	c, err := connect(managementName, rewritten)
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

// withServer returns kubeconfig with another address; the name that the certificate is checked against stays.
func withServer(kubeconfig []byte, hostPort string) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the management cluster's kubeconfig: %w", err)
	}
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, fmt.Errorf("reading the published address %q: %w", hostPort, err)
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	for _, c := range config.Clusters {
		old, err := url.Parse(c.Server)
		if err != nil {
			return nil, fmt.Errorf("reading the server's address %q: %w", c.Server, err)
		}
		c.TLSServerName = old.Hostname()
		c.Server = "https://" + net.JoinHostPort(host, port)
	}
	return clientcmd.Write(*config)
}

// connectManagement connects to the management cluster by the Secret that Cluster API keeps in the bootstrap cluster,
// and saves the kubeconfig for the user.
func (u *Up) connectManagement(ctx context.Context) error {
	if u.found.management != nil {
		return nil
	}
	key := client.ObjectKey{Namespace: u.Environment.ClusterNamespace(), Name: u.Environment.ClusterName()}
	kubeconfig, found, err := capi.Kubeconfig(ctx, u.found.bootstrap, key)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("the bootstrap cluster has no kubeconfig of Cluster %s yet", key)
	}
	c, err := u.reach(ctx, kubeconfig)
	if err != nil {
		return err
	}
	if err := saveKubeconfig(u.KubeconfigPath, c.Kubeconfig); err != nil {
		return err
	}
	u.found.management = c
	return nil
}
