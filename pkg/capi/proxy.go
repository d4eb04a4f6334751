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

// requestTimeout bounds one API request of a move or a restore, so that a hanging request is retried. A timeout of the
// rest.Config replaces it.
const requestTimeout = 30 * time.Second

// proxy gives clusterctl access to one cluster through its rest.Config: no kubeconfig with credentials is written to
// disk, there is no fallback to a default kubeconfig or to the cluster that the process runs in, and API discovery runs
// once, not for every object.
type proxy struct {
	config *rest.Config
	client client.Client
}

var _ cluster.Proxy = &proxy{}

func newProxy(config *rest.Config) (*proxy, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 500, 1000 // clusterctl's own values: the server's fairness is the limit
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

// errNotForMove is the error of those methods that a move of a named namespace does not use.
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
