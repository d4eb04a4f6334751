package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
)

// derive returns the value of an environment's variable that the tools of a cloud keep elsewhere.
func derive(ctx context.Context, name string) (string, bool, error) {
	return known.Derive(ctx, os.LookupEnv, name)
}

// lookInto connects to the cloud of the environment's machines. If cleanup does not support that cloud, it records why
// and what the user can do.
func (s *subject) lookInto(ctx context.Context, env *environment.Environment) (err error) {
	makes, err := known.Of(env, nil)
	if err != nil {
		return err
	}
	if _, can := makes.(provider.AdministratorReader); can {
		s.target.Recover = clusters.RecoverHint(env.Argument())
	}
	switch p := makes.(type) {
	case provider.Cleaner:
		s.cloud, err = p.Leftovers(ctx)
	case provider.CleanupUnsupported:
		s.target.Elsewhere = cleanup.Elsewhere{Place: makes.Place(), Certain: true,
			Reason: "it cannot be listed or deleted from here: only the cluster that holds its definition " +
				"can delete it",
			Hint: fmt.Sprintf("Suspend the HelmRelease telco-cloud-init and the Kustomization cluster in that "+
				"cluster's namespace flux-system, then delete Cluster %s/%s there. See what is left with %q.",
				env.ClusterNamespace(), env.ClusterName(), p.Find(env.ClusterName()))}
	}
	return err
}

// isAdmin reports whether the credentials for the cloud, if there is one, are those of an administrator.
func isAdmin(cloud provider.Leftovers) bool {
	account, knows := cloud.(provider.Account)
	return knows && account.Admin()
}
