//go:build openstack

package preflight

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/roles"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/users"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/external"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/credentials"
)

// realCloud is a real OpenStack, and a project of its own in it that is gone after the test.
type realCloud struct {
	t        *testing.T
	ctx      context.Context
	admin    *openstack.Client
	user     *openstack.Client
	rc       map[string]string
	password string
	name     string
	userID   string
	external networks.Network
	needs    Needs
}

func newRealCloud(t *testing.T) *realCloud {
	t.Helper()
	file := os.Getenv("CLUSTER_INIT_OPENSTACK")
	if file == "" {
		t.Fatal(
			"CLUSTER_INIT_OPENSTACK is not set: it is the clouds.yaml, with the entry admin, of a cloud that this " +
				"test may make projects in")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	s := &realCloud{t: t, ctx: ctx, name: "cloud-" + strings.ToLower(rand.Text()[:8]), password: rand.Text()}
	admin, err := credentials.Find(lookup(map[string]string{"OS_CLIENT_CONFIG_FILE": file, "OS_CLOUD": "admin"}))
	s.must(err)
	s.admin, err = openstack.Connect(ctx, admin)
	s.must(err)
	s.makeProject()
	s.user, err = s.connect(s.rc)
	s.must(err)
	s.chooseNeeds()
	return s
}

// in is s in a subtest, which fails by itself.
// lookup finds variables of a map.
func lookup(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

func (s *realCloud) in(t *testing.T) *realCloud {
	of := *s
	of.t = t
	return &of
}

// must ends the test when what it needs fails.
func (s *realCloud) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(openstack.Explain("preparing the test", err))
	}
}

func (s *realCloud) connect(variables map[string]string) (*openstack.Client, error) {
	cloud, err := credentials.Find(lookup(variables))
	if err != nil {
		return nil, err
	}
	return openstack.Connect(s.ctx, cloud)
}

func (s *realCloud) makeProject() {
	identity := s.admin.Identity
	project, err := projects.Create(s.ctx, identity, projects.CreateOpts{Name: s.name, DomainID: "default"}).Extract()
	s.must(err)
	s.t.Cleanup(func() { s.must(projects.Delete(s.ctx, identity, project.ID).ExtractErr()) })
	user, err := users.Create(s.ctx, identity, users.CreateOpts{Name: s.name, DomainID: "default",
		Password: s.password}).Extract()
	s.must(err)
	s.t.Cleanup(func() { s.must(users.Delete(s.ctx, identity, user.ID).ExtractErr()) })
	s.userID = user.ID
	there, err := all(s.ctx, roles.List(identity, roles.ListOpts{Name: "member"}), roles.ExtractRoles)
	s.must(err)
	if len(there) != 1 {
		s.t.Fatalf("%d roles `member`", len(there))
	}
	s.must(roles.Assign(s.ctx, identity, there[0].ID,
		roles.AssignOpts{UserID: user.ID, ProjectID: project.ID}).ExtractErr())
	s.rc = map[string]string{"OS_AUTH_URL": s.admin.Provider.IdentityEndpoint, "OS_USERNAME": s.name,
		"OS_PASSWORD": s.password, "OS_PROJECT_NAME": s.name,
		"OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_ID": "default"}
}

// chooseNeeds takes what the cloud has.
func (s *realCloud) chooseNeeds() {
	pair, err := keypairs.Create(s.ctx, s.user.Compute, keypairs.CreateOpts{Name: s.name}).Extract()
	s.must(err)
	s.t.Cleanup(func() { s.must(keypairs.Delete(s.ctx, s.user.Compute, pair.Name, nil).ExtractErr()) })
	image, err := all(s.ctx, images.List(s.user.Image, images.ListOpts{Status: images.ImageStatusActive}),
		images.ExtractImages)
	s.must(err)
	flavor, err := all(s.ctx, flavors.ListDetail(s.user.Compute, flavors.ListOpts{MinRAM: controlPlaneRAM}),
		flavors.ExtractFlavors)
	s.must(err)
	yes := true
	outside, err := all(s.ctx, networks.List(s.user.Network, external.ListOptsExt{ListOptsBuilder: networks.ListOpts{},
		External: &yes}), networks.ExtractNetworks)
	s.must(err)
	if len(image) == 0 || len(outside) == 0 {
		s.t.Fatalf("the cloud has %d images and %d external networks", len(image), len(outside))
	}
	s.external = outside[0]
	s.needs = Needs{Tag: "cluster-init:cluster=" + s.name, Image: image[0].Name, KeyPair: s.name,
		ExternalNetwork: s.external.Name, RootVolume: RootVolume{GiB: 10}, Volumes: true,
		Resources: Resources{Servers: 2, Ports: 3, Networks: 1, Subnets: 1, Routers: 1, SecurityGroups: 2,
			FloatingIPs: 1, Volumes: 2, Gigabytes: 20}}
	for _, f := range flavor {
		if f.VCPUs >= controlPlaneCores {
			s.needs.ControlPlane, s.needs.Workers = Machines{Count: 1, Flavor: f.Name, Zones: []string{"nova"}},
				Machines{Count: 1, Flavor: f.Name}
			return
		}
	}
	s.t.Fatal("the cloud has no flavor for a control plane machine")
}

// network makes a network with an untagged port.
func (s *realCloud) network(t *testing.T) (networks.Network, ports.Port) {
	t.Helper()
	network, err := networks.Create(s.ctx, s.user.Network, networks.CreateOpts{Name: s.name}).Extract()
	s.must(err)
	t.Cleanup(func() { s.must(networks.Delete(s.ctx, s.user.Network, network.ID).ExtractErr()) })
	_, err = subnets.Create(s.ctx, s.user.Network, subnets.CreateOpts{NetworkID: network.ID, CIDR: "10.99.0.0/24",
		IPVersion: gophercloud.IPv4}).Extract()
	s.must(err)
	port, err := ports.Create(s.ctx, s.user.Network, ports.CreateOpts{NetworkID: network.ID}).Extract()
	s.must(err)
	t.Cleanup(func() { s.must(ports.Delete(s.ctx, s.user.Network, port.ID).ExtractErr()) })
	return *network, *port
}

// router leads from the network to the external one. It returns the router's name.
func (s *realCloud) router(t *testing.T, network networks.Network) string {
	t.Helper()
	router, err := routers.Create(s.ctx, s.user.Network,
		routers.CreateOpts{Name: s.name, GatewayInfo: &routers.GatewayInfo{NetworkID: s.external.ID}}).Extract()
	s.must(err)
	t.Cleanup(func() { s.must(routers.Delete(s.ctx, s.user.Network, router.ID).ExtractErr()) })
	of, err := all(s.ctx, subnets.List(s.user.Network, subnets.ListOpts{NetworkID: network.ID}), subnets.ExtractSubnets)
	s.must(err)
	_, err = routers.AddInterface(s.ctx, s.user.Network, router.ID,
		routers.AddInterfaceOpts{SubnetID: of[0].ID}).Extract()
	s.must(err)
	t.Cleanup(func() {
		_, err := routers.RemoveInterface(s.ctx, s.user.Network, router.ID,
			routers.RemoveInterfaceOpts{SubnetID: of[0].ID}).Extract()
		s.must(err)
	})
	return router.Name
}

func withVersion(c *gophercloud.ServiceClient, version string) *gophercloud.ServiceClient {
	of := *c
	of.Microversion = version
	return &of
}

func (s *realCloud) imageID() string {
	there, err := all(s.ctx, images.List(s.user.Image, images.ListOpts{Name: s.needs.Image}), images.ExtractImages)
	s.must(err)
	return there[0].ID
}

func (s *realCloud) flavorID() string {
	there, err := all(s.ctx, flavors.ListDetail(s.user.Compute, nil), flavors.ExtractFlavors)
	s.must(err)
	for _, f := range there {
		if f.Name == s.needs.ControlPlane.Flavor {
			return f.ID
		}
	}
	return ""
}

// remove deletes a server and waits until it is gone.
func (s *realCloud) remove(id string) {
	s.must(servers.Delete(s.ctx, s.user.Compute, id).ExtractErr())
	s.must(gophercloud.WaitFor(s.ctx, func(ctx context.Context) (bool, error) {
		_, err := servers.Get(ctx, s.user.Compute, id).Extract()
		if openstack.Status(err) == 404 {
			return true, nil
		}
		return false, err
	}))
}
