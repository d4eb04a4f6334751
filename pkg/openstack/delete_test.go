package openstack_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

func resource(kind openstack.Kind) openstack.Resource {
	return openstack.Resource{Ref: openstack.Ref{Kind: kind, ID: "x"}, PartOf: openstack.Ref{ID: "of"}}
}

// A floating IP that must not be deleted lets go of its port.
func TestDisassociate(t *testing.T) {
	c, asked := standin.Memory(nil).Client(), ""
	c.Provider.HTTPClient.Transport = standin.Memory{"PUT /network/floatingips/x": "200 {}"}.Seeing(
		func(r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = r.Method + " " + r.URL.RequestURI() + " " + strings.TrimSpace(string(body))
		})
	if err := c.Disassociate(t.Context(), resource(openstack.KindFloatingIP)); err != nil ||
		asked != `PUT /network/floatingips/x {"floatingip":{"port_id":null}}` {
		t.Errorf("%q, %v", asked, err)
	}
	if err := standin.Memory(nil).Client().Disassociate(t.Context(), resource(openstack.KindFloatingIP)); !errors.Is(
		err, openstack.ErrNotFound) {
		t.Errorf("of what is not there: %v", err)
	}
}

func TestDelete(t *testing.T) {
	for kind, want := range map[openstack.Kind]struct {
		request string
		gone    bool
	}{
		openstack.KindLoadBalancer:  {"DELETE /loadbalancer/lbaas/loadbalancers/x?cascade=true", false},
		openstack.KindServer:        {"DELETE /compute/servers/x", false},
		openstack.KindServerGroup:   {"DELETE /compute/os-server-groups/x", true},
		openstack.KindVolume:        {"DELETE /volume/volumes/x", false},
		openstack.KindSnapshot:      {"DELETE /volume/snapshots/x", false},
		openstack.KindFloatingIP:    {"DELETE /network/floatingips/x", true},
		openstack.KindTrunk:         {"DELETE /network/trunks/x", true},
		openstack.KindPort:          {"DELETE /network/ports/x", true},
		openstack.KindInterface:     {`PUT /network/routers/of/remove_router_interface {"port_id":"x"}`, true},
		openstack.KindRouter:        {"DELETE /network/routers/x", true},
		openstack.KindSubnet:        {"DELETE /network/subnets/x", true},
		openstack.KindNetwork:       {"DELETE /network/networks/x", true},
		openstack.KindSecurityGroup: {"DELETE /network/security-groups/x", true},
	} {
		t.Run(string(kind), func(t *testing.T) {
			key := strings.SplitN(want.request, " {", 2)[0]
			c, asked := standin.Memory(nil).Client(), ""
			ok := "204"
			if kind == openstack.KindInterface {
				ok = "200 {}"
			}
			c.Provider.HTTPClient.Transport = standin.Memory{key: ok}.Seeing(func(r *http.Request) {
				asked = r.Method + " " + r.URL.RequestURI()
				if r.Body != nil {
					body, _ := io.ReadAll(r.Body)
					asked = strings.TrimSpace(asked + " " + string(body))
				}
			})
			gone, err := c.Delete(t.Context(), resource(kind))
			if err != nil || gone != want.gone || asked != want.request {
				t.Errorf("%q, gone %v, %v", asked, gone, err)
			}
			if _, err := standin.Memory(nil).Client().Delete(t.Context(), resource(kind)); !errors.Is(
				err, openstack.ErrNotFound) {
				t.Errorf("of what is not there: %v", err)
			}
		})
	}
	c := standin.Memory(nil).Client()
	c.LoadBalancer = nil
	for _, r := range []openstack.Resource{resource("image"), resource(openstack.KindLoadBalancer),
		{Ref: openstack.Ref{Kind: openstack.KindPort}}} {
		if gone, err := c.Delete(t.Context(), r); err == nil || gone || errors.Is(err, openstack.ErrNotFound) ||
			openstack.Temporary(err) {
			t.Errorf("%s %q: gone %v, %v", r.Kind, r.ID, gone, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	const body = ` {"NeutronError": {"type": "InUse", "message": "the words"}}`
	for answer, want := range map[string]struct {
		temporary bool
		text      string
	}{
		"400" + body: {false, "the words"}, "401" + body: {true, "the words"}, "403" + body: {false, "the words"},
		"409" + body: {true, "the words"},
		"429":        {true, "429"}, "500" + body: {true, "the words"}, "503 <html>secret</html>": {true, "503"},
		"504": {true, "504"}, "no answer": {true, ""},
	} {
		t.Run(answer[:3], func(t *testing.T) {
			_, err := standin.Memory{"DELETE /network/ports/x": answer}.Client().Delete(t.Context(),
				resource(openstack.KindPort))
			if err == nil || openstack.Temporary(err) != want.temporary || !strings.Contains(err.Error(), want.text) ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("temporary %v: %v", openstack.Temporary(err), err)
			}
		})
	}
	// Cinder calls the request bad for an attached volume, and for one that changes its state.
	_, err := standin.Memory{"DELETE /volume/volumes/x": "400 {}"}.Client().Delete(t.Context(),
		resource(openstack.KindVolume))
	if !openstack.Temporary(err) {
		t.Errorf("volume in use: %v", err)
	}
}

// A token that ends is renewed, and what the cloud says after that counts as if it had never ended.
func TestTokenEnds(t *testing.T) {
	for answer, want := range map[string]error{"401\n204": nil, "401\n404": openstack.ErrNotFound} {
		c := standin.Memory{"DELETE /network/ports/x": answer}.Client()
		renewed := 0
		c.Provider.ReauthFunc = func(context.Context) error { renewed++; c.Provider.SetToken("token-2"); return nil }
		if _, err := c.Delete(t.Context(), resource(openstack.KindPort)); !errors.Is(err, want) || renewed != 1 {
			t.Errorf("%q: %v, renewed %d times", answer, err, renewed)
		}
	}
	c := standin.Memory{"DELETE /network/ports/x": "401"}.Client()
	c.Provider.ReauthFunc = func(context.Context) error { return errors.New("the identity service is down") }
	if _, err := c.Delete(t.Context(), resource(openstack.KindPort)); err == nil || !openstack.Temporary(err) {
		t.Errorf("a renewal that fails: %v", err)
	}
}

func TestStatus(t *testing.T) {
	c := standin.Memory{"GET /compute/servers/x": `{"server": {"status": "ERROR"}}`,
		"GET /loadbalancer/lbaas/loadbalancers/x": `{"loadbalancer": {"provisioning_status": "PENDING_DELETE"}}`}.Client()
	for kind, want := range map[openstack.Kind]string{openstack.KindServer: "error",
		openstack.KindLoadBalancer: "pending_delete"} {
		if status, err := c.Status(t.Context(), resource(kind)); err != nil || status != want {
			t.Errorf("%s: %q, %v", kind, status, err)
		}
	}
	if _, err := c.Status(t.Context(), resource(openstack.KindVolume)); !errors.Is(err, openstack.ErrNotFound) {
		t.Error(err)
	}
}
