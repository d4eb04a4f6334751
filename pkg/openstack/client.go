package openstack

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	sdk "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/config"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/redirect"
)

// CredentialsHint is the hint for missing or unreadable credentials.
const CredentialsHint = "Set OS_CLOUD to an entry of a clouds.yaml, or source the openrc file of your project; see " +
	"docs/environments/openstack.md."

const (
	// LoginTime bounds Connect: a few requests that each take milliseconds on a healthy cloud.
	LoginTime = time.Minute
	// requestTime bounds each request, so that one without an answer does not use up the whole time.
	requestTime = 30 * time.Second
)

// Client talks to the services of one cloud in one project. Optional services that a cloud does not have are nil.
type Client struct {
	Provider                          *gophercloud.ProviderClient
	Identity, Compute, Network        *gophercloud.ServiceClient
	BlockStorage, Image, LoadBalancer *gophercloud.ServiceClient
	// ProjectID is that of the token's scope.
	ProjectID string
	// ProjectName is that of the token's scope.
	ProjectName string
	// Roles are the names of the user's roles in the project, as the token has them.
	Roles []string
}

// Connect logs in, within LoginTime, through the proxies of the process's variables. The client renews its token.
// The error is fault.CloudRefused if the cloud refuses the credentials or they name no project, fault.CloudUnreachable
// if it does not answer, and fault.CloudLacks if its catalog lacks a required service. No error's text contains a
// secret.
func Connect(ctx context.Context, cloud Cloud) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, LoginTime)
	defer cancel()
	auth, endpoint, trust, err := readLogin(cloud)
	if err != nil {
		return nil, err
	}
	provider, err := config.NewProviderClient(ctx, auth, config.WithHTTPClient(newHTTPClient(trust)))
	if err != nil {
		return nil, explainLogin(cloud.Name, auth.IdentityEndpoint, err)
	}
	provider.UserAgent.Prepend("cluster-init")
	c := &Client{Provider: provider}
	catalog, err := c.readToken()
	if err != nil {
		return nil, err
	}
	if c.ProjectID == "" {
		return nil,
			fault.New(fault.CloudRefused, fmt.Sprintf("cloud %s accepted the credentials, but without a project",
				cloud.Name), "Set a project in the clouds.yaml, or with OS_PROJECT_NAME.")
	}
	return c, c.findServices(ctx, cloud.Name, catalog, endpoint)
}

// newHTTPClient returns Go's default client with the given trust, a timeout, and redirects to the same host only.
func newHTTPClient(trust *tls.Config) http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = trust
	return http.Client{Transport: transport, Timeout: requestTime, CheckRedirect: redirect.SameHost}
}

// readToken reads the project and the roles from the token, and returns the catalog.
func (c *Client) readToken() (*tokens.ServiceCatalog, error) {
	token, ok := c.Provider.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return nil, fault.New(fault.CloudUnreachable, "the identity service does not have version 3", addressHint)
	}
	project, projectErr := token.ExtractProject()
	roles, rolesErr := token.ExtractRoles()
	catalog, err := token.ExtractServiceCatalog()
	if errors.Join(projectErr, rolesErr, err) != nil { // they would quote the token's body
		return nil, fault.New(fault.CloudUnreachable, "the identity service's answer to the login cannot be read",
			addressHint)
	}
	if project != nil {
		c.ProjectID, c.ProjectName = project.ID, project.Name
	}
	for _, role := range roles {
		c.Roles = append(c.Roles, role.Name)
	}
	return catalog, nil
}

// findServices sets a client for each service in the catalog. The services themselves report their versions.
func (c *Client) findServices(ctx context.Context, cloud string, catalog *tokens.ServiceCatalog,
	endpoint gophercloud.EndpointOpts) error {
	unbound := c.Provider.EndpointLocator // it sends requests without a context
	defer func() { c.Provider.EndpointLocator = unbound }()
	c.Provider.EndpointLocator = func(options gophercloud.EndpointOpts) (string, error) {
		return sdk.V3Endpoint(ctx, c.Provider, catalog, options)
	}
	var lacks []string
	for _, service := range []struct {
		name     string
		to       **gophercloud.ServiceClient
		make     func(*gophercloud.ProviderClient, gophercloud.EndpointOpts) (*gophercloud.ServiceClient, error)
		required bool
	}{
		{"identity", &c.Identity, sdk.NewIdentityV3, true}, {"compute", &c.Compute, sdk.NewComputeV2, true},
		{"network", &c.Network, sdk.NewNetworkV2, true}, {"image", &c.Image, sdk.NewImageV2, true},
		{"block-storage", &c.BlockStorage, sdk.NewBlockStorageV3, false},
		{"load-balancer", &c.LoadBalancer, sdk.NewLoadBalancerV2, false},
	} {
		made, err := service.make(c.Provider, endpoint)
		switch {
		case err == nil:
			*service.to = made
		case !isNotInCatalog(err):
			return Explain(fmt.Sprintf("asking service %s of cloud %s for its versions", service.name, cloud), err)
		case service.required:
			lacks = append(lacks, service.name)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	region, hint := "any region", "Ask the operator of the cloud."
	if endpoint.Region != "" {
		region, hint = "region "+endpoint.Region,
			"Set OS_REGION_NAME to a region that has it. The catalog has the regions: "+
				cmp.Or(strings.Join(regions(catalog), ", "), "none")
	}
	return fault.New(fault.CloudLacks, fmt.Sprintf("cloud %s has no %s endpoint of: %s, in %s", cloud,
		endpoint.Availability, strings.Join(lacks, ", "), region), hint)
}

func isNotInCatalog(err error) bool {
	_, pointer := errors.AsType[*gophercloud.ErrEndpointNotFound](err)
	_, value := errors.AsType[gophercloud.ErrEndpointNotFound](err)
	return pointer || value
}

func regions(catalog *tokens.ServiceCatalog) []string {
	var names []string
	for _, service := range catalog.Entries {
		for _, endpoint := range service.Endpoints {
			names = append(names, cmp.Or(endpoint.RegionID, endpoint.Region))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
