// Package resource makes what the OpenStack lab offers: users, projects, flavors, networks, images, quotas. Everything
// in it may be repeated: what is there stays.
package resource

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	sdk "github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

// domain is the name of the only domain, and its id in small letters.
const domain = "Default"

// Login is a user in a project of the lab.
type Login struct{ User, Password, Project string }

// Admin returns the login of the lab's administrator.
func Admin(installation configuration.Installation) Login {
	return Login{User: "admin", Password: installation.Secrets.Admin, Project: "admin"}
}

// Demo returns the login of the project that has no rights beyond itself.
func Demo(installation configuration.Installation) Login {
	return Login{User: "demo", Password: installation.Secrets.Demo, Project: "demo"}
}

// cloud is a login's connection to all services.
type cloud struct {
	identity, compute, network, volume, image, balancer *gophercloud.ServiceClient
}

// authenticate logs in. The user's proxy is for the internet; the lab is on this machine.
func authenticate(ctx context.Context, installation configuration.Installation, login Login) (
	*gophercloud.ProviderClient, error) {
	provider, err := sdk.NewClient(installation.Identity())
	if err != nil {
		return nil, fmt.Errorf("reach keystone: %w", err)
	}
	provider.HTTPClient = http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	err = sdk.Authenticate(ctx, provider, gophercloud.AuthOptions{
		IdentityEndpoint: installation.Identity(), DomainName: domain, AllowReauth: true,
		Username: login.User, Password: login.Password, TenantName: login.Project,
	})
	if err != nil {
		return nil, fmt.Errorf("log in as %s: %w", login.User, err)
	}
	return provider, nil
}

// connect logs in and finds the services.
func connect(ctx context.Context, installation configuration.Installation, login Login) (cloud, error) {
	provider, err := authenticate(ctx, installation, login)
	if err != nil {
		return cloud{}, err
	}
	var found cloud
	where := gophercloud.EndpointOpts{Region: configuration.Region}
	for _, service := range []struct {
		client *(*gophercloud.ServiceClient)
		find   func(*gophercloud.ProviderClient, gophercloud.EndpointOpts) (*gophercloud.ServiceClient, error)
	}{
		{&found.identity, sdk.NewIdentityV3}, {&found.compute, sdk.NewComputeV2}, {&found.network, sdk.NewNetworkV2},
		{&found.volume, sdk.NewBlockStorageV3}, {&found.image, sdk.NewImageV2},
		{&found.balancer, sdk.NewLoadBalancerV2},
	} {
		if *service.client, err = service.find(provider, where); err != nil {
			return cloud{}, fmt.Errorf("find a service of the lab: %w", err)
		}
	}
	return found, nil
}
