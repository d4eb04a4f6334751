package cli

import (
	"context"
	"os"

	"github.com/cluster-init/cluster-init/pkg/provider/aws"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack"
)

// derive finds out what an environment's variables stand for that clouds' own tools keep elsewhere.
func derive(ctx context.Context, name string) (string, bool, error) {
	if value, found, err := openstack.Derive(os.LookupEnv, name); found || err != nil {
		return value, found, err
	}
	return aws.Derive(ctx, name)
}

// noCredentials stands in for derive where credentials are not used.
func noCredentials(ctx context.Context, name string) (string, bool, error) {
	if value, found := openstack.NoCloud(name); found {
		return value, true, nil
	}
	return aws.NoCredentials(ctx, name)
}
