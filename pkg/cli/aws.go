package cli

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/aws"
)

// The variables of an environment that AWS's tools keep elsewhere than in variables of these names.
const (
	awsRegion      = "AWS_REGION"
	awsCredentials = "AWS_B64ENCODED_CREDENTIALS"
)

// deriveFromAWS asks AWS's default chain.
func deriveFromAWS(ctx context.Context, name string) (string, bool, error) {
	if name != awsRegion && name != awsCredentials {
		return "", false, nil
	}
	chain, err := aws.Load(ctx)
	if err != nil {
		return "", false, err
	}
	if name == awsRegion {
		return chain.Region(), chain.Region() != "", nil
	}
	credentials, err := chain.Credentials(ctx)
	if err != nil {
		return "", false, err
	}
	return credentials.Profile(), true, nil
}
