//go:build e2e

package e2e

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	sdk "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/config"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
)

const (
	siteName   = "cluster-init-machine"
	siteSubnet = "10.91.0.0/24"
)

// site is a network of a project, with a router to the outside and a floating address.
type site struct {
	compute, network         *gophercloud.ServiceClient
	image, flavor, networkID string
	floating, floatingID     string
}

// machine is a server of the site.
type machine struct{ id, name, address, port string }

// newSite makes a site in project demo, and removes it after the test.
func newSite(t *testing.T) *site {
	t.Helper()
	auth, endpoint, tls, err := clouds.Parse(clouds.WithCloudName("demo"))
	must(t, err)
	provider, err := config.NewProviderClient(t.Context(), auth, config.WithTLSConfig(tls))
	must(t, err)
	s := &site{}
	s.compute, err = sdk.NewComputeV2(provider, endpoint)
	must(t, err)
	s.network, err = sdk.NewNetworkV2(provider, endpoint)
	must(t, err)
	image, err := sdk.NewImageV2(provider, endpoint)
	must(t, err)

	pages, err := images.List(image, images.ListOpts{Name: "cluster-init-lab"}).AllPages(t.Context())
	must(t, err)
	foundImages, err := images.ExtractImages(pages)
	must(t, err)
	pages, err = flavors.ListDetail(s.compute, nil).AllPages(t.Context())
	must(t, err)
	foundFlavors, err := flavors.ExtractFlavors(pages)
	must(t, err)
	// the image does not in any
	fits := slices.IndexFunc(foundFlavors, func(f flavors.Flavor) bool { return f.Name == "m1.small" })
	if len(foundImages) != 1 || fits < 0 {
		t.Fatalf("the cloud has %d images cluster-init-lab and the flavors %v", len(foundImages), foundFlavors)
	}
	s.image, s.flavor = foundImages[0].ID, foundFlavors[fits].ID
	s.connect(t)
	return s
}

// connect makes the network, the router and the floating address.
func (s *site) connect(t *testing.T) {
	t.Helper()
	pages, err := networks.List(s.network, networks.ListOpts{Name: "public"}).AllPages(t.Context())
	must(t, err)
	public, err := networks.ExtractNetworks(pages)
	must(t, err)
	if len(public) != 1 {
		t.Fatalf("the cloud has %d networks public", len(public))
	}
	network, err := networks.Create(t.Context(), s.network, networks.CreateOpts{Name: siteName}).Extract()
	must(t, err)
	s.networkID = network.ID
	s.later(t, "network", func(ctx context.Context) error {
		return networks.Delete(ctx, s.network,
			network.ID).ExtractErr()
	})
	subnet, err := subnets.Create(t.Context(), s.network, subnets.CreateOpts{NetworkID: network.ID, CIDR: siteSubnet,
		IPVersion: 4}).Extract()
	must(t, err)
	router, err := routers.Create(t.Context(), s.network, routers.CreateOpts{
		Name: siteName, GatewayInfo: &routers.GatewayInfo{NetworkID: public[0].ID},
	}).Extract()
	must(t, err)
	s.later(t, "router", func(ctx context.Context) error {
		return routers.Delete(ctx, s.network,
			router.ID).ExtractErr()
	})
	_, err = routers.AddInterface(t.Context(), s.network, router.ID,
		routers.AddInterfaceOpts{SubnetID: subnet.ID}).Extract()
	must(t, err)
	s.later(t, "interface of the router", func(ctx context.Context) error {
		_, err := routers.RemoveInterface(ctx, s.network, router.ID,
			routers.RemoveInterfaceOpts{SubnetID: subnet.ID}).Extract()
		return err
	})
	floating, err := floatingips.Create(t.Context(), s.network,
		floatingips.CreateOpts{FloatingNetworkID: public[0].ID}).Extract()
	must(t, err)
	s.floating, s.floatingID = floating.FloatingIP, floating.ID
	s.later(t, "floating address", func(ctx context.Context) error {
		return floatingips.Delete(ctx, s.network,
			floating.ID).ExtractErr()
	})
}

// later deletes something after the test, in the reverse order: what still uses it may need some seconds to go.
func (s *site) later(t *testing.T, what string, remove func(context.Context) error) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			err := remove(ctx)
			if err == nil || notFound(err) {
				return
			}
			select {
			case <-ctx.Done():
				t.Errorf("the %s is left: %v", what, err)
				return
			case <-tick.C:
			}
		}
	})
}

func notFound(err error) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &answer) && answer.Actual == 404
}

// boot makes a server in the network and waits until nova calls it active.
func (s *site) boot(t *testing.T, name string, userData []byte) machine {
	t.Helper()
	port, err := ports.Create(t.Context(), s.network, ports.CreateOpts{NetworkID: s.networkID, Name: name}).Extract()
	must(t, err)
	s.later(t, "port of "+name, func(ctx context.Context) error {
		return ports.Delete(ctx, s.network,
			port.ID).ExtractErr()
	})
	server, err := servers.Create(t.Context(), s.compute, servers.CreateOpts{
		Name: name, ImageRef: s.image, FlavorRef: s.flavor, UserData: userData,
		Networks: []servers.Network{{Port: port.ID}},
	}, nil).Extract()
	must(t, err)
	s.later(t, name, func(ctx context.Context) error { return servers.Delete(ctx, s.compute, server.ID).ExtractErr() })
	eventually(t, name+" is active", 2*time.Minute, func(ctx context.Context) bool {
		got, err := servers.Get(ctx, s.compute, server.ID).Extract()
		return err == nil && got.Status == "ACTIVE"
	})
	return machine{id: server.ID, name: name, address: port.FixedIPs[0].IPAddress, port: port.ID}
}

// remove deletes a server.
func (s *site) remove(t *testing.T, server machine) {
	t.Helper()
	must(t, servers.Delete(t.Context(), s.compute, server.id).ExtractErr())
}

// associate leads the floating address to a server.
func (s *site) associate(t *testing.T, server machine) {
	t.Helper()
	_, err := floatingips.Update(t.Context(), s.network, s.floatingID,
		floatingips.UpdateOpts{PortID: &server.port}).Extract()
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// inContainer runs a command in a container, which must succeed, and returns what it wrote.
func inContainer(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", append([]string{"exec", name}, args...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%s in %s: %v: %s", strings.Join(args, " "), name, err, out)
	}
	return strings.TrimSpace(string(out))
}

// documents splits a file of YAML documents.
func documents(content string) []string { return regexp.MustCompile(`(?m)^---\n`).Split(content, -1) }
