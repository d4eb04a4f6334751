//go:build integration

// Package testenv runs real kube-apiservers, each with its etcd, that serve the real CRDs of Cluster API and CAPD, and
// one of the OpenStack Resource Controller.
package testenv

import (
	"context"
	"maps"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
)

// Server is one running kube-apiserver with a client.
type Server struct {
	*apiserver.Server
	Config *rest.Config
	Client client.Client
}

// Start runs a kube-apiserver with the CRDs, each labelled for clusterctl. Stop it when there is no error.
func Start(ctx context.Context) (*Server, error) {
	scheme, err := capi.NewScheme()
	if err != nil {
		return nil, err
	}
	crds, err := apiserver.ClusterAPIDefinitions(ctx)
	if err != nil {
		return nil, err
	}
	groups, err := apiserver.ServerGroupDefinition(ctx)
	if err != nil {
		return nil, err
	}
	crds = append(crds, groups...)
	for _, crd := range crds {
		if crd.Labels == nil {
			crd.Labels = map[string]string{}
		}
		maps.Copy(crd.Labels, fixture.CRDLabels(crd.Spec.Group))
	}
	started, err := apiserver.Start(crds...)
	if err != nil {
		return nil, err
	}
	s := &Server{Server: started, Config: started.Config()}
	s.Config.WarningHandlerWithContext = rest.NoWarnings{} // CAPD's deprecated kinds are no news
	if s.Client, err = client.New(s.Config, client.Options{Scheme: scheme}); err != nil {
		_ = started.Stop()
		return nil, err
	}
	return s, nil
}
