// Package aws asks AWS: for credentials by the default chain of its tools (variables of the environment, the shared
// config and credentials files with AWS_PROFILE, the role of the machine), and for what an account has.
package aws

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/smithy-go/logging"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// LookupTime bounds the chain: its last links use the network, and outside of AWS they may get no answer.
const LookupTime = 20 * time.Second

const hint = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (for SSO: after `aws sso login`), " +
	"or AWS_B64ENCODED_CREDENTIALS to the output of `clusterawsadm bootstrap credentials encode-as-profile`."

// Chain is the content of environment and files, before any request.
type Chain struct {
	config  sdk.Config
	timeout time.Duration
}

// Load reads environment and files. It fails with fault.CredentialsMissing if they contradict each other, such as an
// AWS_PROFILE that no file contains.
func Load(ctx context.Context) (Chain, error) {
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{})) // otherwise it writes to stderr
	if err != nil {
		return Chain{}, fault.Wrap(fmt.Errorf("reading the AWS configuration: %w", err), fault.CredentialsMissing, hint)
	}
	return Chain{config: c, timeout: LookupTime}, nil
}

// Region is that of AWS_REGION, AWS_DEFAULT_REGION or the profile. Empty means none of them has one.
func (c Chain) Region() string { return c.config.Region }

// Credentials resolves the chain, for at most LookupTime. It fails with fault.CredentialsMissing.
func (c Chain) Credentials(ctx context.Context) (Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	found, err := c.config.Credentials.Retrieve(ctx)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s: %w", c.timeout, withoutOutput(err))
		}
		return Credentials{}, fault.Wrap(fmt.Errorf("no AWS credentials: %w", withoutOutput(err)),
			fault.CredentialsMissing, hint)
	}
	return Credentials{AccessKeyID: found.AccessKeyID, SecretAccessKey: found.SecretAccessKey,
		SessionToken: found.SessionToken, Region: c.config.Region}, nil
}

// withoutOutput replaces the error of a credential_process: it may quote what the process printed, secrets included.
func withoutOutput(err error) error {
	if _, ok := errors.AsType[*processcreds.ProviderError](err); ok {
		return errors.New("the credential_process of the AWS profile failed: run it manually for its error")
	}
	return err
}
