//go:build openstack

package preflight

import (
	"slices"
	"strings"
	"testing"

	volumequotas "github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/quotasets"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/quotasets"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/attributestags"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/quotas"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// TestRealCloud asks the real services: identity, compute, network, image and block storage.
func TestRealCloud(t *testing.T) {
	s := newRealCloud(t)
	t.Run("there is room", func(t *testing.T) { s.wants(t, s.needs) })
	t.Run("credentials", s.credentials)
	t.Run("what is not there", s.notThere)
	t.Run("quotas", s.quotas)
	t.Run("floating IPs", s.floatingIPs)
	t.Run("what is there already", s.resumes)
}

// wants runs a preflight, which must say each of the problems and no other.
func (s *realCloud) wants(t *testing.T, needs Needs, problems ...string) {
	t.Helper()
	report, err := Run(s.ctx, s.user, needs)
	told := []string{}
	if err != nil {
		told = strings.Split(err.Error(), "\n")
	}
	if len(told) != len(problems) {
		t.Errorf("%d problems, want %d: %v", len(told), len(problems), err)
		return
	}
	for n, problem := range problems {
		if !strings.Contains(told[n], problem) {
			t.Errorf("%q does not say %q", told[n], problem)
		}
	}
	t.Logf("%v %v %v", report.Notes, report.Warnings, told)
}

func (s *realCloud) credentials(t *testing.T) {
	s = s.in(t)
	wrong := map[string]string{}
	for name, value := range s.rc {
		wrong[name] = value
	}
	wrong["OS_PASSWORD"] = "s3cret"
	if _, err := s.connect(wrong); fault.CodeOf(err) != fault.CloudRefused || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v with code %s", err, fault.CodeOf(err))
	}
	wrong["OS_PASSWORD"], wrong["OS_REGION_NAME"] = s.password, "Nowhere"
	if _, err := s.connect(wrong); fault.CodeOf(err) != fault.CloudLacks ||
		!strings.Contains(fault.HintOf(err), "RegionOne") {
		t.Errorf("error %v with code %s and hint %q", err, fault.CodeOf(err), fault.HintOf(err))
	}
	// A token that counts no more is renewed. Identity knows at once, the other services keep it for minutes.
	before := s.user.Provider.Token()
	s.must(tokens.Revoke(s.ctx, s.admin.Identity, before).Err)
	made, err := applicationcredentials.Create(s.ctx, s.user.Identity, s.userID,
		applicationcredentials.CreateOpts{Name: s.name}).Extract()
	s.must(err)
	if s.user.Provider.Token() == before {
		t.Error("it still has the token that was revoked")
	}
	for what, rc := range map[string]map[string]string{
		"by id":   {"OS_APPLICATION_CREDENTIAL_ID": made.ID, "OS_AUTH_TYPE": "v3applicationcredential"},
		"by name": {"OS_APPLICATION_CREDENTIAL_NAME": s.name, "OS_USERNAME": s.name, "OS_USER_DOMAIN_NAME": "Default"},
	} {
		rc["OS_AUTH_URL"], rc["OS_APPLICATION_CREDENTIAL_SECRET"] = s.rc["OS_AUTH_URL"], made.Secret
		c, err := s.connect(rc)
		if err != nil || c.ProjectID != s.user.ProjectID {
			t.Errorf("application credential %s: %v", what, err)
			continue
		}
		if _, err := Run(s.ctx, c, s.needs); err != nil {
			t.Errorf("application credential %s: %v", what, err)
		}
	}
	report, err := Run(s.ctx, s.admin, s.needs)
	if len(report.Warnings) == 0 || !strings.Contains(report.Warnings[0], "administrator") {
		t.Errorf("nothing is said of the administrator: %v, %v", report, err)
	}
}

func (s *realCloud) notThere(t *testing.T) {
	s = s.in(t)
	needs := s.needs
	needs.Image, needs.KeyPair, needs.ExternalNetwork, needs.Network, needs.Router, needs.FloatingIP = "img", "key",
		"ext", "net", "rtr", "192.0.2.250"
	needs.ControlPlane = Machines{Count: 1, Flavor: "flv", Zones: []string{"zone"}}
	needs.RootVolume.Type, needs.RootVolume.Zone, needs.LoadBalancers = "type", "vzone", s.user.LoadBalancer == nil
	problems := []string{`image "img" does not exist`, `flavor "flv" does not exist`, `key pair "key" does not exist`,
		`availability zone "zone" is not available`,
		`external network "ext" does not exist`, `network "net" does not exist`, `router "rtr" does not exist`,
		"floating IP 192.0.2.250 is not one of project",
		`volume type "type" does not exist`, `availability zone of volumes "vzone" is not available`}
	if needs.LoadBalancers {
		problems = append([]string{"no load-balancer service (Octavia)"}, problems...)
	}
	s.wants(t, needs, problems...)
}

func (s *realCloud) quotas(t *testing.T) {
	s = s.in(t)
	none, project := 0, s.user.ProjectID
	low := func(n int) *int { return &n }
	_, err := quotasets.Update(s.ctx, s.admin.Compute, project, quotasets.UpdateOpts{Instances: low(1), Cores: low(1),
		RAM: low(1024), ServerGroups: &none}).Extract()
	s.must(err)
	_, err = quotas.Update(s.ctx, s.admin.Network, project, quotas.UpdateOpts{Network: &none, Subnet: &none,
		Router: &none, Port: low(1), FloatingIP: &none, SecurityGroup: low(1), SecurityGroupRule: low(10)}).Extract()
	s.must(err)
	_, err = volumequotas.Update(s.ctx, s.admin.BlockStorage, project, volumequotas.UpdateOpts{Volumes: low(1),
		Gigabytes: low(15)}).Extract()
	s.must(err)
	needs := s.needs
	needs.ServerGroups, needs.Resources.ServerGroups = []string{"some"}, 1
	s.wants(t, needs, "instances: 2 wanted, 1 left (0 of 1 used)", "cores: ", "MiB of memory: ",
		"server groups: 1 wanted, 0 left", "networks: 1 wanted", "subnets: 1 wanted", "routers: 1 wanted",
		"ports: 4 wanted, 1 left", "floating IPs: 1 wanted", "security groups: 2 wanted",
		"security group rules: 16 wanted", "volumes: 2 wanted, 1 left", "gigabytes of volumes: 20 wanted, 15 left")
	plenty := 1000
	_, err = quotasets.Update(s.ctx, s.admin.Compute, project, quotasets.UpdateOpts{Instances: low(-1), Cores: low(-1),
		RAM: low(-1), ServerGroups: low(-1)}).Extract()
	s.must(err)
	_, err = quotas.Update(s.ctx, s.admin.Network, project, quotas.UpdateOpts{Network: &plenty, Subnet: &plenty,
		Router: &plenty, Port: low(-1), FloatingIP: &plenty, SecurityGroup: &plenty,
		SecurityGroupRule: &plenty}).Extract()
	s.must(err)
	_, err = volumequotas.Update(s.ctx, s.admin.BlockStorage, project, volumequotas.UpdateOpts{Volumes: low(-1),
		Gigabytes: low(-1)}).Extract()
	s.must(err)
	s.wants(t, needs)
}

func (s *realCloud) floatingIPs(t *testing.T) {
	s = s.in(t)
	ip, err := floatingips.Create(s.ctx, s.user.Network,
		floatingips.CreateOpts{FloatingNetworkID: s.external.ID}).Extract()
	s.must(err)
	t.Cleanup(func() { s.must(floatingips.Delete(s.ctx, s.user.Network, ip.ID).ExtractErr()) })
	network, port := s.network(t)
	needs := s.needs
	needs.FloatingIP, needs.Network, needs.Router = ip.FloatingIP, network.Name, s.router(t, network)
	s.wants(t, needs)
	_, err = floatingips.Update(s.ctx, s.user.Network, ip.ID, floatingips.UpdateOpts{PortID: &port.ID}).Extract()
	s.must(err)
	t.Cleanup(func() {
		_, err := floatingips.Update(s.ctx, s.user.Network, ip.ID,
			floatingips.UpdateOpts{PortID: new(string)}).Extract()
		s.must(err)
	})
	s.wants(t, needs, "floating IP "+ip.FloatingIP+" is in use by port "+port.ID)
	_, err = attributestags.ReplaceAll(s.ctx, s.user.Network, "ports", port.ID,
		attributestags.ReplaceAllOpts{Tags: []string{s.needs.Tag}}).Extract()
	s.must(err)
	s.wants(t, needs)
}

func (s *realCloud) resumes(t *testing.T) {
	s = s.in(t)
	network, port := s.network(t)
	server, err := servers.Create(s.ctx, withVersion(s.user.Compute, "2.52"),
		servers.CreateOpts{Name: s.name, ImageRef: s.imageID(), FlavorRef: s.flavorID(), Tags: []string{s.needs.Tag},
			Networks: "none"}, nil).Extract()
	s.must(err)
	t.Cleanup(func() { s.remove(server.ID) })
	_, err = attributestags.ReplaceAll(s.ctx, s.user.Network, "networks", network.ID,
		attributestags.ReplaceAllOpts{Tags: []string{s.needs.Tag}}).Extract()
	s.must(err)
	i := &inspection{client: s.user, needs: s.needs}
	i.present(s.ctx)
	has := i.has
	if has.servers != 1 || has.cores < controlPlaneCores || has.ram < controlPlaneRAM || has.volumes != 0 ||
		has.networks != 1 || has.subnets != 0 || has.ports < 1 || len(i.problems) > 0 {
		t.Errorf("it sees %+v, %v", has, i.problems)
	}
	if !slices.Contains(has.portIDs, port.ID) {
		t.Errorf("port %s of the cluster's network is not among %v", port.ID, has.portIDs)
	}
	one := 1
	_, err = quotasets.Update(s.ctx, s.admin.Compute, s.user.ProjectID, quotasets.UpdateOpts{Instances: &one}).Extract()
	s.must(err)
	s.wants(t, s.needs, "instances: 1 wanted, 0 left (1 of 1 used)")
	needs := s.needs
	needs.Resources.Servers, needs.Image = 1, "deleted since"
	s.wants(t, needs)
}
