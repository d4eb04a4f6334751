package aws

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// requestTime bounds each request, so that one without an answer does not use up the whole time.
const requestTime = 10 * time.Second

// ErrPartition reports that the addresses of a region's services are not known here.
var ErrPartition = errors.New("the region is outside of the partitions aws, aws-cn and aws-us-gov")

// Client sends signed requests of one user or role. The SDK's clients of these services would add minutes to a first
// build: the few requests here are plain forms, which the SDK's signer signs.
type Client struct {
	// Region is the region of regional services.
	Region      string
	credentials sdk.Credentials
	variables   config.EnvConfig
	suffix      string // of the partition's hosts
	http        *http.Client
	signer      *v4.Signer
}

// Connect prepares a client, and sends nothing. Like AWS's tools it follows AWS_ENDPOINT_URL, AWS_CA_BUNDLE and the
// proxies of the process's variables. The error is ErrPartition, or fault.CredentialsMissing for unusable variables.
func Connect(c Credentials, region string) (*Client, error) {
	variables, err := config.NewEnvConfig()
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the AWS variables: %w", err), fault.CredentialsMissing, hint)
	}
	transport, err := newTransport(variables.CustomCABundle)
	if err != nil {
		return nil, err
	}
	suffix := "amazonaws.com"
	switch partition, _, _ := strings.Cut(region, "-"); {
	case partition == "cn":
		suffix = "amazonaws.com.cn"
	case partition == "eusc" || strings.Contains(region, "iso"):
		return nil, ErrPartition
	}
	return &Client{
		Region: region, variables: variables, suffix: suffix, signer: v4.NewSigner(),
		credentials: sdk.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey,
			SessionToken: c.SessionToken},
		http: &http.Client{Transport: transport, Timeout: requestTime,
			// A redirect is an answer: S3 names the region of a bucket so. The signature fits no other host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// newTransport trusts the certificates in the file bundle in place of the system's. Empty means the system's.
func newTransport(bundle string) (*http.Transport, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: requestTime,
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if bundle == "" {
		return transport, nil
	}
	pem, err := os.ReadFile(bundle)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read AWS_CA_BUNDLE: %w", err), fault.CredentialsMissing,
			"Set AWS_CA_BUNDLE to a file with certificates, or unset it.")
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fault.New(fault.CredentialsMissing, "AWS_CA_BUNDLE: "+bundle+" contains no certificate",
			"Set AWS_CA_BUNDLE to a file with certificates, or unset it.")
	}
	transport.TLSClientConfig.RootCAs = pool
	return transport, nil
}

// service is one service of AWS.
type service struct {
	name    string // in addresses and signatures
	id      string // the SDK's, in AWS_ENDPOINT_URL_ID
	version string // of its query API
}

var (
	ec2    = service{"ec2", "EC2", "2016-11-15"}
	iam    = service{"iam", "IAM", "2010-05-08"}
	quotas = service{"servicequotas", "Service Quotas", ""}
	s3     = service{"s3", "S3", ""}
	sts    = service{"sts", "STS", "2011-06-15"}
)

// endpoint returns the address of a service and the region of its signatures. IAM is one for each partition.
func (c *Client) endpoint(ctx context.Context, of service) (address, region string) {
	region, host := c.Region, of.name+"."+c.Region
	if of == iam {
		switch partition, _, _ := strings.Cut(c.Region, "-"); {
		case partition == "cn":
			region, host = "cn-north-1", "iam.cn-north-1"
		case strings.HasPrefix(c.Region, "us-gov-"):
			region, host = "us-gov-west-1", "iam.us-gov"
		default:
			region, host = "us-east-1", "iam"
		}
	}
	address = "https://" + host + "." + c.suffix
	if ignore := c.variables.IgnoreConfiguredEndpoints; ignore == nil || !*ignore {
		specific, _, _ := c.variables.GetServiceBaseEndpoint(ctx, of.id) // it reads a variable, and cannot fail
		address = cmp.Or(specific, c.variables.BaseEndpoint, address)
	}
	return strings.TrimSuffix(address, "/"), region
}
