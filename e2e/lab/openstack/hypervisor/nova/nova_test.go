package nova

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
)

// answers are what an API says to a path; one that is not here is not found, and a number is a status.
type answers map[string]string

// cloud returns a cloud all of whose services give the answers.
func (a answers) cloud(t *testing.T) *Cloud {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, found := a[strings.TrimPrefix(r.URL.Path, "/")]
		status := http.StatusOK
		if !found {
			status = http.StatusNotFound
		} else if len(body) == 3 {
			_, _ = fmt.Sscan(body, &status)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	service := &gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{TokenID: "t"},
		Endpoint: server.URL + "/"}
	return &Cloud{compute: service, network: service, image: service, volume: service, balancer: service,
		images: map[string]string{}}
}

func TestOnlyNotFoundIsGone(t *testing.T) {
	for answer, want := range map[string]string{"404": "true", `{"server":{"id":"s"}}`: "false", "500": "error",
		"503": "error", "401": "error", "403": "error"} {
		cloud := answers{"servers/s": answer, "lbaas/loadbalancers/s": answer}.cloud(t)
		for kind, ask := range map[string]func(context.Context, string) (bool, error){"server": cloud.Gone,
			"load balancer": cloud.BalancerGone} {
			gone, err := ask(t.Context(), "s")
			got := fmt.Sprint(gone)
			if err != nil {
				got = "error"
			}
			if got != want || gone && err != nil {
				t.Errorf("%s, %s: %s, want %s (%v)", kind, answer, got, want, err)
			}
		}
	}
}

func TestImageOf(t *testing.T) {
	a := answers{
		"images/i":      `{"id":"i","name":"lab"}`,
		"images/broken": "500",
		"volumes/v":     `{"volume":{"id":"v","status":"in-use","volume_image_metadata":{"image_name":"lab"}}}`,
		"volumes/new":   `{"volume":{"id":"new","status":"creating"}}`,
	}
	cloud := a.cloud(t)
	tests := map[string]struct {
		server hypervisor.Server
		want   string
		fails  bool
	}{
		"image":              {hypervisor.Server{Image: "i", Volume: "other"}, "lab", false},
		"image that is gone": {hypervisor.Server{Image: "gone"}, "", false},
		"image, no answer":   {hypervisor.Server{Image: "broken"}, "", true},
		"volume":             {hypervisor.Server{Volume: "v"}, "lab", false},
		"volume being made":  {hypervisor.Server{Volume: "new"}, "", false},
		"nothing yet":        {hypervisor.Server{}, "", false},
	}
	for name, test := range tests {
		got, err := cloud.ImageOf(t.Context(), test.server)
		if got != test.want || (err != nil) != test.fails {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	a["volumes/new"] = a["volumes/v"]
	a["images/i"] = "500" // is not asked again
	for _, server := range []hypervisor.Server{{Volume: "new"}, {Image: "i"}} {
		if got, err := cloud.ImageOf(t.Context(), server); got != "lab" || err != nil {
			t.Errorf("later, %+v: %q, %v", server, got, err)
		}
	}
}

func TestState(t *testing.T) {
	a := answers{
		"servers/detail": `{"servers":[{"id":"s","name":"one","status":"ACTIVE","image":{"id":"i"}},
			{"id":"b","name":"two","status":"BUILD","image":"","os-extended-volumes:volumes_attached":[{"id":"v"},{"id":"w"}]}]}`,
		"subnets": `{"subnets":[{"id":"1","network_id":"n","cidr":"10.6.0.0/24","gateway_ip":"10.6.0.1"},{"id":"2","network_id":"n","cidr":"10.7.0.0/24"},{"id":"3","network_id":"m","cidr":"10.8.0.0/24","gateway_ip":null}]}`,
		"ports": `{"ports":[{"id":"p","network_id":"n","device_id":"s","fixed_ips":[{"ip_address":"fd00::5"},{"ip_address":"10.6.0.5"}],
			"allowed_address_pairs":[{"ip_address":"10.6.0.9","mac_address":"fa:16:3e:00:00:01"},{"ip_address":"10.9.0.0/16"}]}]}`,
		"lbaas/loadbalancers": `{"loadbalancers":[{"id":"b","name":"api","vip_port_id":"v","admin_state_up":true},
			{"id":"off","name":"down","vip_port_id":"w","admin_state_up":false}]}`,
		"lbaas/listeners": `{"listeners":[
			{"id":"1","protocol":"TCP","protocol_port":6443,"default_pool_id":"pool","admin_state_up":true,
				"loadbalancers":[{"id":"b"}],"allowed_cidrs":["10.6.0.0/24"]},
			{"id":"2","protocol":"TCP","protocol_port":80,"admin_state_up":true,"loadbalancers":[{"id":"b"},{"id":"off"}]},
			{"id":"3","protocol":"UDP","protocol_port":53,"default_pool_id":"pool","admin_state_up":true,
				"loadbalancers":[{"id":"b"}]}]}`,
		"lbaas/healthmonitors": `{"healthmonitors":[{"id":"h","delay":10,"max_retries":5,"max_retries_down":3,
			"pools":[{"id":"pool"}]}]}`,
		"lbaas/pools/pool/members": `{"members":[{"id":"m","address":"10.6.0.5","protocol_port":6443,"admin_state_up":true},
			{"id":"n","address":"10.6.0.6","protocol_port":6443,"admin_state_up":true,"provisioning_status":"PENDING_DELETE"},
			{"id":"o","address":"10.6.0.7","protocol_port":6443,"admin_state_up":false}]}`,
		"floatingips": `{"floatingips":[{"floating_ip_address":"203.0.113.7","fixed_ip_address":"10.6.0.5","port_id":"p"},{"floating_ip_address":"203.0.113.8","fixed_ip_address":null,"port_id":null}]}`,
	}
	state, err := a.cloud(t).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const want = "[{s one ACTIVE i } {b two BUILD  v}] [{n 10.6.0.0/24 10.6.0.1} {m 10.8.0.0/24 invalid IP}] " +
		"[{p n s [10.6.0.5] [10.6.0.9]}] [{203.0.113.7 10.6.0.5 p}] " +
		"[{b api v [{6443 [10.6.0.0/24] [10.6.0.5:6443] {10s 5 3}} {80 [] [] {0s 0 0}}]} {off down w []}]"
	if got := fmt.Sprint(state.Servers, state.Networks, state.Ports, state.Floating, state.Balancers); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for question := range a {
		before := a[question]
		a[question] = "500"
		if _, err := a.cloud(t).State(t.Context()); err == nil {
			t.Errorf("no error although %s failed", question)
		}
		a[question] = before
	}
}

// A pool may go while its listener is being read; a cloud may have neither servers nor load balancers, or no octavia.
func TestStateWithoutLoadBalancers(t *testing.T) {
	a := answers{"servers/detail": `{"servers":[]}`, "lbaas/loadbalancers": `{"loadbalancers":[]}`}
	cloud := a.cloud(t)
	if state, err := cloud.State(t.Context()); err != nil || len(state.Balancers) > 0 {
		t.Errorf("an empty cloud: %+v, %v", state, err)
	}
	if members, err := cloud.members(t.Context(), "gone"); err != nil || len(members) > 0 {
		t.Errorf("a pool that is gone: %v, %v", members, err)
	}
	a["lbaas/loadbalancers"] = "500"
	if _, err := cloud.State(t.Context()); err == nil {
		t.Error("no error although octavia does not answer")
	}
	cloud.balancer = nil
	if _, err := cloud.State(t.Context()); err != nil {
		t.Errorf("a cloud without octavia: %v", err)
	}
	if gone, err := cloud.BalancerGone(t.Context(), "b"); gone || err == nil {
		t.Errorf("a load balancer is gone without octavia: %t, %v", gone, err)
	}
}

func TestDrive(t *testing.T) {
	a := answers{
		"servers/s": `{"server":{"id":"s","name":"Machine A","tenant_id":"p","user_id":"u","key_name":"k","OS-EXT-AZ:availability_zone":"nova",
			"metadata":{"a":"b"},"OS-EXT-SRV-ATTR:hostname":"machine-a","OS-EXT-SRV-ATTR:user_data":"I2Nsb3VkLWNvbmZpZwo="}}`,
		"os-keypairs/k": `{"keypair":{"name":"k","public_key":"ssh-ed25519 AAAA"}}`,
	}
	content, err := a.cloud(t).Drive(t.Context(), "s")
	if err != nil || string(content.UserData) != "#cloud-config\n" {
		t.Fatalf("%q, %v", content.UserData, err)
	}
	if got := fmt.Sprint(content.Metadata); got != "{s Machine A machine-a nova p 0 map[k:ssh-ed25519 AAAA] map[a:b]}" {
		t.Errorf("metadata %s", got)
	}
	a["servers/s"] = `{"server":{"id":"s","OS-EXT-SRV-ATTR:user_data":"s3cret!"}}`
	if _, err := a.cloud(t).Drive(t.Context(), "s"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("user-data that cannot be read gave %v", err)
	}
}
