package openstack_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// The address and the description are part of the request that makes the port.
func TestReservingAnAddress(t *testing.T) {
	const creation = "POST /network/ports"
	reserve := func(answer string) (id, asked string, err error) {
		answers := standin.Memory{creation: answer}
		c := answers.Client()
		c.Provider.HTTPClient.Transport = answers.Seeing(func(r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = r.Method + " " + r.URL.Path + " " + strings.TrimSpace(string(body))
		})
		id, err = c.Reserve(t.Context(), openstack.Reservation{Network: "n", Subnet: "s", Address: "10.0.0.9",
			Name: "api", Description: "of a cluster"})
		return id, asked, err
	}
	id, asked, err := reserve(`201 {"port": {"id": "x"}}`)
	if err != nil || id != "x" || asked != creation+` {"port":{"description":"of a cluster","fixed_ips":[{"ip_address":`+
		`"10.0.0.9","subnet_id":"s"}],"name":"api","network_id":"n","security_groups":[]}}` {
		t.Errorf("%q, %q, %v", id, asked, err)
	}
	refused := new(openstack.Refusal)
	if _, _, err := reserve(`409 {"NeutronError": {"message": "already allocated"}}`); !errors.As(err, &refused) ||
		refused.Code != 409 || !strings.Contains(err.Error(), "already allocated") {
		t.Errorf("an address that another port has: %v", err)
	}
	if _, _, err := reserve(`201 <html>`); err == nil {
		t.Error("half a reply counts as an answer")
	}
}
