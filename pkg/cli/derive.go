package cli

import (
	"context"
	"os"

	"github.com/cluster-init/cluster-init/pkg/aws"
)

// derive finds out what an environment's variables stand for that clouds' own tools keep elsewhere.
func derive(ctx context.Context, name string) (string, bool, error) {
	if value, found, err := deriveFromOpenStack(os.LookupEnv, name); found || err != nil {
		return value, found, err
	}
	return deriveFromAWS(ctx, name)
}

// noCredentials stands in for derive where credentials are not used.
func noCredentials(ctx context.Context, name string) (string, bool, error) {
	if name == awsCredentials {
		return aws.NoProfile, true, nil
	}
	if value, found := noCloud(name); found {
		return value, true, nil
	}
	return deriveFromAWS(ctx, name)
}
