// Package nova reads what the hypervisor bridge needs to know from the services of an OpenStack, as its administrator.
package nova

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	sdk "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/config"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
)

// detailed is the version of nova's API in which administrators read user-data and host name of a server back.
const detailed = "2.60"

// Cloud is an OpenStack. It is not safe for use by several goroutines.
type Cloud struct {
	// Endpoint is the address of its identity service, which identifies a cloud.
	Endpoint                        string
	compute, network, image, volume *gophercloud.ServiceClient
	// balancer is nil in a cloud without load balancers.
	balancer *gophercloud.ServiceClient
	images   map[string]string // by identifier of an image, or of a volume: the image's name
}

// Connect logs in to a cloud of clouds.yaml, which it finds where all clients of OpenStack do (OS_CLIENT_CONFIG_FILE).
func Connect(ctx context.Context, name string) (*Cloud, error) {
	auth, endpoint, tls, err := clouds.Parse(clouds.WithCloudName(name))
	if err != nil {
		return nil, fmt.Errorf("read cloud %s of clouds.yaml: %w", name, err)
	}
	auth.AllowReauth = true
	provider, err := config.NewProviderClient(ctx, auth, config.WithTLSConfig(tls))
	if err != nil {
		return nil, fmt.Errorf("log in to cloud %s at %s: %w", name, auth.IdentityEndpoint, err)
	}
	cloud := &Cloud{Endpoint: auth.IdentityEndpoint, images: map[string]string{}}
	for _, service := range []struct {
		to   **gophercloud.ServiceClient
		make func(*gophercloud.ProviderClient, gophercloud.EndpointOpts) (*gophercloud.ServiceClient, error)
	}{
		{&cloud.compute, sdk.NewComputeV2}, {&cloud.network, sdk.NewNetworkV2},
		{&cloud.image, sdk.NewImageV2}, {&cloud.volume, sdk.NewBlockStorageV3},
	} {
		if *service.to, err = service.make(provider, endpoint); err != nil {
			return nil, fmt.Errorf("find a service of cloud %s: %w", name, err)
		}
	}
	if cloud.balancer, err = sdk.NewLoadBalancerV2(provider, endpoint); err == nil {
		return cloud, nil
	}
	if !unlisted(err) {
		return nil, fmt.Errorf("find the load balancers of cloud %s: %w", name, err)
	}
	cloud.balancer = nil
	return cloud, nil
}

// unlisted reports whether the catalog lacks a service. The SDK returns a pointer, or the error itself.
func unlisted(err error) bool {
	var pointer *gophercloud.ErrEndpointNotFound
	var value gophercloud.ErrEndpointNotFound
	return errors.As(err, &pointer) || errors.As(err, &value)
}

// Endpoint returns the address of the identity service of a cloud of clouds.yaml, without a request.
func Endpoint(name string) (string, error) {
	auth, _, _, err := clouds.Parse(clouds.WithCloudName(name))
	if err != nil {
		return "", fmt.Errorf("read cloud %s of clouds.yaml: %w", name, err)
	}
	return auth.IdentityEndpoint, nil
}

// missing reports whether the API answered that there is no such thing. Nothing else means that: an empty answer of a
// service that has trouble does not.
func missing(err error) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &answer) && answer.Actual == http.StatusNotFound
}
