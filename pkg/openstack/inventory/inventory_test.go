package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

// world is a project with one of each kind, as the services tell of it.
func world() standin.Memory {
	return standin.Memory{
		"GET /compute/servers/detail": `{"servers": [{"id": "s1", "name": "cp-0", "tenant_id": "p", "status": "ACTIVE", "created": "2026-01-02T03:04:05Z", "tags": ["mine"],
			"os-extended-volumes:volumes_attached": [{"id": "root", "delete_on_termination": true}, {"id": "data", "delete_on_termination": false}]}]}`,
		"GET /compute/os-server-groups": `{"server_groups": [{"id": "g1", "name": "group", "members": ["s1"]}]}`,
		"GET /volume/volumes/detail": `{"volumes": [{"id": "root", "name": "cp-0-root", "created_at": "2026-01-02T03:04:05.123456", "os-vol-tenant-attr:tenant_id": "p", "attachments": [{"server_id": "s1"}]},
			{"id": "data", "name": null, "description": null, "metadata": {"a": "b"}, "attachments": [{"server_id": "s1"}]}]}`,
		"GET /volume/snapshots/detail":              `{"snapshots": [{"id": "sn1", "volume_id": "data"}]}`,
		"GET /network/floatingips?project_id=p":     `{"floatingips": [{"id": "f1", "floating_ip_address": "203.0.113.5", "port_id": "p1", "router_id": "r1"}, {"id": "f2", "floating_ip_address": "203.0.113.6", "port_id": null, "router_id": null}]}`,
		"GET /network/routers?project_id=p":         `{"routers": [{"id": "r1", "name": "router", "project_id": "p"}]}`,
		"GET /network/networks?project_id=p":        `{"networks": [{"id": "n1", "name": "net"}]}`,
		"GET /network/subnets?project_id=p":         `{"subnets": [{"id": "sub1", "network_id": "n1"}]}`,
		"GET /network/security-groups?project_id=p": `{"security_groups": [{"id": "sg1", "security_group_rules": [{"remote_group_id": "sg1"}, {"remote_group_id": "sg2"}, {"remote_group_id": "sg2"}, {"remote_group_id": null}]}, {"id": "sg2"}]}`,
		"GET /network/trunks?project_id=p":          `{"trunks": [{"id": "t1", "port_id": "p1", "sub_ports": [{"port_id": "p3"}]}]}`,
		"GET /network/ports?project_id=p": `{"ports": [
			{"id": "p1", "project_id": "p", "network_id": "n1", "device_id": "s1", "device_owner": "compute:nova", "fixed_ips": [{"subnet_id": "sub1"}], "security_groups": ["sg1"]},
			{"id": "i1", "project_id": "p", "network_id": "n1", "device_id": "r1", "device_owner": "network:router_interface", "fixed_ips": [{"subnet_id": "sub1"}]},
			{"id": "d1", "project_id": "p", "network_id": "n1", "device_owner": "network:dhcp"},
			{"id": "d2", "project_id": "", "network_id": "n1", "device_owner": "network:router_centralized_snat", "device_id": "r1"},
			{"id": "p2", "project_id": "p", "network_id": "n1", "device_id": "lb-l1", "device_owner": "Octavia"},
			{"id": "p3", "project_id": "p", "network_id": "n1", "device_owner": "trunk:subport", "device_id": "t1"}]}`,
		"GET /network/networks?fields=id&project_id=p":       `{"networks": [{"id": "n1"}]}`,
		"GET /network/ports?network_id=n1":                   `{"ports": [{"id": "p1", "project_id": "p", "network_id": "n1", "device_id": "s1", "device_owner": "compute:nova", "fixed_ips": [{"subnet_id": "sub1"}], "security_groups": ["sg1"]}, {"id": "p9", "project_id": "other", "network_id": "n1", "device_owner": "compute:nova", "device_id": "elsewhere"}]}`,
		"GET /loadbalancer/lbaas/loadbalancers?project_id=p": `{"loadbalancers": [{"id": "l1", "name": "api", "provisioning_status": "ACTIVE", "vip_port_id": "p2", "created_at": "2026-01-02T03:04:05"}]}`,
	}
}

func find(t *testing.T, has openstack.Inventory, id string) openstack.Resource {
	t.Helper()
	i := slices.IndexFunc(has.Resources, func(r openstack.Resource) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("%s is not in the inventory", id)
	}
	return has.Resources[i]
}

func refs(list []openstack.Ref) string {
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func TestInventoryTellsWhoUsesWhat(t *testing.T) {
	has, err := inventory.Project{Client: world().Client()}.Inventory(t.Context())
	if err != nil || len(has.Unknown) > 0 {
		t.Fatal(err, has.Unknown)
	}
	for id, want := range map[string]struct {
		kind openstack.Kind
		uses string
		part string
	}{
		"s1":   {openstack.KindServer, "data g1 p1 root t1", ""},
		"g1":   {openstack.KindServerGroup, "", ""},
		"root": {openstack.KindVolume, "", "s1"},
		"data": {openstack.KindVolume, "", ""},
		"sn1":  {openstack.KindSnapshot, "data", ""},
		"f1":   {openstack.KindFloatingIP, "i1 p1", ""},
		"f2":   {openstack.KindFloatingIP, "", ""},
		"r1":   {openstack.KindRouter, "", ""},
		"n1":   {openstack.KindNetwork, "", ""},
		"sub1": {openstack.KindSubnet, "n1", ""},
		"sg1":  {openstack.KindSecurityGroup, "sg2", ""},
		"t1":   {openstack.KindTrunk, "p1 p3", "p1"},
		"p1":   {openstack.KindPort, "i1 n1 sg1 sub1", "s1"},
		"p2":   {openstack.KindPort, "n1", "l1"},
		"p3":   {openstack.KindPort, "n1", ""},
		"p9":   {openstack.KindPort, "n1", "elsewhere"},
		"i1":   {openstack.KindInterface, "n1 r1 sub1", "r1"},
		"l1":   {openstack.KindLoadBalancer, "p2", ""},
	} {
		r := find(t, has, id)
		if r.Kind != want.kind || refs(r.Uses) != want.uses || r.PartOf.ID != want.part {
			t.Errorf("%s: %s uses %q, part of %q; want %s, %q, %q", id, r.Kind, refs(r.Uses), r.PartOf.ID, want.kind,
				want.uses, want.part)
		}
	}
	if len(has.Resources) != 19 {
		t.Errorf("%d resources: a port of Neutron's own is none, and none is there twice", len(has.Resources))
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, id := range []string{"s1", "root", "l1"} {
		if made := find(t, has, id).Created.Truncate(time.Second); !made.Equal(at) {
			t.Errorf("%s was made at %s", id, made)
		}
	}
	if r := find(t, has, "p9"); r.Project != "other" || find(t, has, "s1").Project != "p" ||
		find(t, has, "f1").Name != "203.0.113.5" {
		t.Errorf("%+v", r)
	}
}

func TestInventoryReadsAllPages(t *testing.T) {
	in := world()
	page := func(id, next string) string {
		return fmt.Sprintf(`{"networks": [{"id": %q}], "networks_links": [{"rel": "previous", "href": "x"}%s]}`, id,
			next)
	}
	in["GET /network/networks?project_id=p"] = page(
		"n1", `, {"rel": "next", "href": "https://unreachable.example.org/elsewhere?marker=n1&project_id=p"}`)
	in["GET /network/networks?marker=n1&project_id=p"] = page(
		"n2", `, {"rel": "next", "href": "?marker=n2&project_id=p"}`)
	in["GET /network/networks?marker=n2&project_id=p"] = page("n3", "")
	has, err := inventory.Project{Client: in.Client()}.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"n1", "n2", "n3"} {
		find(t, has, id)
	}
	in["GET /network/networks?marker=n1&project_id=p"] = page(
		"n1", `, {"rel": "next", "href": "?marker=n1&project_id=p"}`)
	has, err = inventory.Project{Client: in.Client()}.Inventory(t.Context())
	if err != nil || has.Unknown[openstack.KindNetwork] == nil {
		t.Errorf("a link that leads to itself: %v, %v", err, has.Unknown)
	}
}

// A list whose next page cannot be found is not complete: its kind is unknown.
func TestInventoryOfALinkThatCannotBeFollowed(t *testing.T) {
	for name, links := range map[string]string{
		"no list":            `"?marker=n1"`,
		"no address":         `[{"rel": "next", "href": 7}]`,
		"no URL":             `[{"rel": "next", "href": "https://[::1/?marker=n1"}]`,
		"no query":           `[{"rel": "next", "href": "?project_id=p&marker=%zz"}]`,
		"an empty address":   `[{"rel": "next", "href": ""}]`,
		"back to the first":  `[{"rel": "next", "href": "?project_id=p"}]`,
		"round and round":    `[{"rel": "next", "href": "?marker=n1&project_id=p"}]`,
		"an unreadable last": `[{"rel": "next", "href": "?marker=n2&project_id=p"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			in := world()
			page := `{"networks": [{"id": "n1"}], "networks_links": %s}`
			in["GET /network/networks?project_id=p"] = fmt.Sprintf(page, links)
			in["GET /network/networks?marker=n1&project_id=p"] = fmt.Sprintf(page,
				`[{"rel": "next", "href": "?project_id=p"}]`)
			in["GET /network/networks?marker=n2&project_id=p"] = fmt.Sprintf(page,
				`[{"rel": "next", "href": "?project_id=p&marker=%zz"}]`)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			has, err := inventory.Project{Client: in.Client()}.Inventory(ctx)
			if err != nil || len(has.Unknown) != 1 || has.Unknown[openstack.KindNetwork] == nil {
				t.Fatalf("%v, unknown %v", err, has.Unknown)
			}
			if text := has.Unknown[openstack.KindNetwork].Error(); !strings.Contains(text,
				"listing networks: the cloud's link to the next page ") {
				t.Errorf("error %q", text)
			}
		})
	}
	t.Run("a later page that no longer exists", func(t *testing.T) { // trunks alone may not exist at all
		in := world()
		in["GET /network/trunks?project_id=p"] = `{"trunks": [{"id": "t1", "port_id": "p1"}],
			"trunks_links": [{"rel": "next", "href": "?marker=t1&project_id=p"}]}`
		has, err := inventory.Project{Client: in.Client()}.Inventory(t.Context())
		if err != nil || len(has.Unknown) != 1 || has.Unknown[openstack.KindTrunk] == nil {
			t.Errorf("%v, unknown %v", err, has.Unknown)
		}
	})
	for name, links := range map[string]string{"null": "null", "none": "[]",
		"another relation": `[{"rel": "previous", "href": "%"}]`} {
		in := world()
		in["GET /network/networks?project_id=p"] = `{"networks": [{"id": "n1"}], "networks_links": ` + links + `}`
		has, err := inventory.Project{Client: in.Client()}.Inventory(t.Context())
		if err != nil || len(has.Unknown) != 0 {
			t.Errorf("%s: %v, unknown %v", name, err, has.Unknown)
		}
	}
}

// A list that could not be read makes its kind unknown, never empty.
func TestInventoryOfAnIllCloud(t *testing.T) {
	for name, kind := range map[string]openstack.Kind{
		"/compute/servers/detail": openstack.KindServer, "/compute/os-server-groups": openstack.KindServerGroup,
		"/volume/volumes/detail":                         openstack.KindVolume,
		"/volume/snapshots/detail":                       openstack.KindSnapshot,
		"/network/floatingips?project_id=p":              openstack.KindFloatingIP,
		"/network/routers?project_id=p":                  openstack.KindRouter,
		"/network/networks?project_id=p":                 openstack.KindNetwork,
		"/network/subnets?project_id=p":                  openstack.KindSubnet,
		"/network/trunks?project_id=p":                   openstack.KindTrunk,
		"/network/security-groups?project_id=p":          openstack.KindSecurityGroup,
		"/network/ports?project_id=p":                    openstack.KindPort,
		"/network/networks?fields=id&project_id=p":       openstack.KindPort,
		"/network/ports?network_id=n1":                   openstack.KindPort,
		"/loadbalancer/lbaas/loadbalancers?project_id=p": openstack.KindLoadBalancer,
	} {
		for _, broken := range []string{"500", "403", "no answer", "{"} {
			t.Run(name+" "+broken, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					in := world()
					in["GET "+name] = broken
					has, err := inventory.Project{Client: in.Client()}.Inventory(t.Context())
					if err != nil || len(has.Unknown) != 1 || has.Unknown[kind] == nil {
						t.Errorf("%v, unknown %v", err, has.Unknown)
					}
				})
			})
		}
	}
}

// Nova leaves servers out of its list that are not gone. Whose port or volume names one says so.
func TestInventoryOfAServerThatIsNotListed(t *testing.T) {
	port := `{"ports": [{"id": "p4", "project_id": "p", "network_id": "n1", "device_owner": "compute:nova", "device_id": "hidden"}]}`
	volume := `{"volumes": [{"id": "v4", "os-vol-tenant-attr:tenant_id": "p", "attachments": [{"server_id": "hidden"}]}]}`
	foreign := strings.Replace(port, `"project_id": "p"`, `"project_id": "other"`, 1)
	for name, test := range map[string]struct{ list, rows, answer, says string }{
		"its port": {"network/ports?project_id=p", port,
			`{"server": {"status": "SOFT_DELETED"}}`, "hidden of port p4 is there (soft_deleted)"},
		"its volume": {"volume/volumes/detail", volume, `{"server": {"status": "UNKNOWN"}}`,
			"hidden of volume v4 is there (unknown)"},
		"it cannot be asked": {"network/ports?project_id=p", port, "500",
			"asking for server hidden of port p4"},
		"it is gone": {"network/ports?project_id=p", port, "404", ""},
		"another project's is not asked for": {"network/ports?project_id=p", foreign,
			`{"server": {"status": "ACTIVE"}}`, ""},
	} {
		in := world()
		in["GET /"+test.list], in["GET /compute/servers/hidden"] = test.rows, test.answer
		has, err := inventory.Project{Client: in.Client()}.Inventory(t.Context())
		unknown := has.Unknown[openstack.KindServer]
		if err != nil || (unknown != nil) != (test.says != "") || unknown != nil &&
			!strings.Contains(unknown.Error(), test.says) {
			t.Errorf("%s: %v, unknown %v, want %q", name, err, has.Unknown, test.says)
		}
	}
}

func TestInventoryAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := world()
		in["GET /compute/servers/detail"] = "500\n500\n" + in["GET /compute/servers/detail"]
		has, err := inventory.Project{Client: in.Client()}.Inventory(t.Context())
		if err != nil || len(has.Unknown) > 0 {
			t.Fatal(err, has.Unknown)
		}
		find(t, has, "s1")
	})
}

func TestInventoryWithoutSomeServices(t *testing.T) {
	in := world()
	in["GET /network/trunks?project_id=p"] = "404"
	c := in.Client()
	c.LoadBalancer, c.BlockStorage = nil, nil
	has, err := inventory.Project{Client: c}.Inventory(t.Context())
	if err != nil || len(has.Unknown) > 0 {
		t.Error(err, has.Unknown)
	}
	c.ProjectID = ""
	if _, err := (inventory.Project{Client: c}).Inventory(t.Context()); err == nil {
		t.Error("credentials of no project are taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (inventory.Project{Client: world().Client()}).Inventory(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Without Octavia's own role, listing load balancers is forbidden. Where no port belongs to one, there is none.
func TestInventoryWithoutTheRoleOfOctavia(t *testing.T) {
	for owner, unknown := range map[string]bool{"compute:nova": false, "Octavia": true, "ovn-lb-vip": true,
		"neutron:LOADBALANCERV2": true} {
		in := world()
		in["GET /loadbalancer/lbaas/loadbalancers?project_id=p"] = "403"
		in["GET /network/ports?project_id=p"] = fmt.Sprintf(
			`{"ports": [{"id": "p2", "network_id": "n1", "device_id": "x", "device_owner": %q}]}`, owner)
		has, err := inventory.Project{Client: in.Client()}.Inventory(t.Context())
		if err != nil || (has.Unknown[openstack.KindLoadBalancer] != nil) != unknown {
			t.Errorf("%s: %v, unknown %v", owner, err, has.Unknown)
		}
	}
}

func TestInventoryAsksForTags(t *testing.T) {
	c, asked := world().Client(), ""
	c.Provider.HTTPClient.Transport = world().Seeing(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "servers/detail") {
			asked = r.Header.Get("X-OpenStack-Nova-API-Version")
		}
	})
	has, err := inventory.Project{Client: c}.Inventory(t.Context())
	if err != nil || asked != "2.26" || !slices.Equal(find(t, has, "s1").Tags, []string{"mine"}) {
		t.Errorf("version %q, %v", asked, err)
	}
}
