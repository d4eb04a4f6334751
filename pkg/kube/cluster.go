// Package kube talks to one Kubernetes API server: clients, server-side apply, watches and logs. It also reads, checks
// and writes kubeconfigs.
package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// FieldOwner is the field manager of everything that cluster-init applies itself.
const FieldOwner = "cluster-init"

// Cluster is a connection to one API server. Name is its name in events and errors: "bootstrap" or "management".
type Cluster struct {
	client.Client
	Name       string
	Kubeconfig []byte
	Config     *rest.Config
	Dynamic    dynamic.Interface
	discovery  discovery.DiscoveryInterface
	requests   *atomic.Int64
}

// Connect makes a Cluster from a kubeconfig's bytes and its current context. It adds CustomResourceDefinitions to the
// scheme. It sends no request yet.
func Connect(name string, kubeconfig []byte, scheme *runtime.Scheme) (*Cluster, error) {
	config, err := restConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the %s cluster: %w", name, err)
	}
	config.QPS = -1                                      // the server has its own priority and fairness
	config.WarningHandlerWithContext = rest.NoWarnings{} // deprecations in others' manifests are of no use to our user
	config.Timeout = 0                                   // watches have no end; every other call has a context
	requests := &atomic.Int64{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return countingTransport{reconnectingTransport{next, unanswered}, requests}
	})
	if err := AddDefinitions(scheme); err != nil {
		return nil, fmt.Errorf("register CustomResourceDefinitions: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client for the %s cluster: %w", name, err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a dynamic client for the %s cluster: %w", name, err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a discovery client for the %s cluster: %w", name, err)
	}
	return &Cluster{Client: c, Name: name, Kubeconfig: kubeconfig, Config: config, Dynamic: dyn, discovery: disco,
		requests: requests}, nil
}

// Requests returns how many API requests were sent through this connection so far.
func (c *Cluster) Requests() int64 { return c.requests.Load() }

// Reachable checks the API server's readiness, for at most five seconds.
func (c *Cluster) Reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	h := &handshake{}
	_, err := c.discovery.RESTClient().Get().AbsPath("/readyz").DoRaw(h.followed(ctx))
	if err = h.explain(ctx, err); err != nil {
		return fault.Retryable(fmt.Errorf("asking the API server of the %s cluster at %s: %w", c.Name, c.Config.Host,
			err),
			fault.ClusterUnreachable, "Check that the cluster runs and that this machine reaches its address.")
	}
	return nil
}

// Version returns the version of the API server, such as v1.36.4.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	text, err := c.discovery.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	var answer version.Info
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		return "", fmt.Errorf("read the version of the %s cluster: %w", c.Name, err)
	}
	return answer.GitVersion, nil
}

type countingTransport struct {
	next  http.RoundTripper
	count *atomic.Int64
}

// RoundTrip counts the request and passes it on.
func (t countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.count.Add(1)
	return t.next.RoundTrip(r)
}
