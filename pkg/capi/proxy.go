package capi

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/cluster"
	"sigs.k8s.io/cluster-api/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// requestTimeout bounds one API request of a move, so that an API which hangs is retried.
const requestTimeout = 30 * time.Second

// proxy gives clusterctl one cluster by its rest.Config: no kubeconfig with its credentials needs to be written to
// disk, nothing falls back to a default kubeconfig or to the cluster the process runs in, and the API is
// discovered once and not again for every object.
type proxy struct {
	config *rest.Config
	client client.Client
}

var _ cluster.Proxy = &proxy{}

func newProxy(config *rest.Config) (*proxy, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 500, 1000 // clusterctl's own figures: the server's fairness is the limit
	if config.Timeout == 0 {
		config.Timeout = requestTimeout
	}
	config.WarningHandlerWithContext = rest.NoWarnings{}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &proxy{config: config, client: c}, nil
}

func (p *proxy) GetConfig() (*rest.Config, error) { return p.config, nil }

func (p *proxy) NewClient(context.Context) (client.Client, error) { return p.client, nil }

func (p *proxy) ValidateKubernetesVersion() error {
	return version.CheckKubernetesVersion(p.config, version.MinimumKubernetesVersion)
}

// errNotForMove is what the parts of the interface answer that a move of a named namespace does not use.
var errNotForMove = errors.New("not available to a move")

func (p *proxy) CurrentNamespace() (string, error) { return "", errNotForMove }

func (p *proxy) CheckClusterAvailable(context.Context) error { return errNotForMove }

func (p *proxy) ListResources(context.Context, map[string]string, ...string) ([]unstructured.Unstructured, error) {
	return nil, errNotForMove
}

func (p *proxy) GetContexts(string) ([]string, error) { return nil, errNotForMove }

func (p *proxy) GetResourceNames(context.Context, string, string, []client.ListOption, string) ([]string, error) {
	return nil, errNotForMove
}
