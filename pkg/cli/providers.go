package cli

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/aws"
	dockerprovider "github.com/cluster-init/cluster-init/pkg/provider/docker"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack"
)

// providerOf returns who makes the environment's machines. The chart's schema knows no others.
func providerOf(env *environment.Environment, engine *docker.Client) provider.Provider {
	switch env.InfraProvider() {
	case "capo":
		return openstack.Provider{Environment: env}
	case "capa":
		return aws.Provider{}
	default:
		return dockerprovider.Provider{Engine: engine, Cluster: env.ClusterName()}
	}
}

// lookInto connects to where the environment's machines are, besides the Docker engine, or says that it cannot.
func (s *subject) lookInto(ctx context.Context, env *environment.Environment) (err error) {
	switch p := providerOf(env, nil).(type) {
	case openstack.Provider:
		s.router = env.OpenStack().Network.Router
		s.cloud, err = openstack.Connect(ctx, env)
	case aws.Provider:
		s.target.Elsewhere = cleanup.Elsewhere{Place: p.Place(), Certain: true,
			Why: "it cannot be listed or deleted from here: only the cluster that holds its definition can delete it",
			Hint: fmt.Sprintf("Suspend the HelmRelease telco-cloud-init and the Kustomization cluster in that cluster's namespace flux-system, then delete Cluster %s/%s there. See what is left with %q.",
				env.ClusterNamespace(), env.ClusterName(), p.Find(env.ClusterName()))}
	}
	return err
}
