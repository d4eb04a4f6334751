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

// The description is part of the request that makes a floating IP, and tags of others stay.
func TestMakingAndTaggingAFloatingIP(t *testing.T) {
	const creation = "POST /network/floatingips"
	const tags = "PUT /network/floatingips/x/tags"
	var asked []string
	client := func(answers standin.Memory) *openstack.Client {
		c := answers.Client()
		c.Provider.HTTPClient.Transport = answers.Seeing(func(r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = append(asked, r.Method+" "+r.URL.Path+" "+strings.TrimSpace(string(body)))
		})
		return c
	}
	c := client(standin.Memory{creation: `201 {"floatingip": {"id": "x"}}`, tags: `200 {"tags": ["a", "b"]}`})
	id, err := c.MakeFloatingIP(t.Context(), "net", "of a cluster")
	if err != nil || id != "x" {
		t.Errorf("%q, %v", id, err)
	}
	tagged := resource(openstack.KindFloatingIP)
	tagged.Tags = []string{"a"}
	if err := c.Tag(t.Context(), tagged, "b"); err != nil {
		t.Error(err)
	}
	want := []string{creation + ` {"floatingip":{"description":"of a cluster","floating_network_id":"net"}}`,
		tags + ` {"tags":["a","b"]}`}
	if strings.Join(asked, "\n") != strings.Join(want, "\n") {
		t.Errorf("asked %q", asked)
	}
	quota := client(standin.Memory{creation: `409 {"NeutronError": {"message": "Quota exceeded for resources"}}`})
	refused := new(openstack.Refusal)
	if _, err := quota.MakeFloatingIP(t.Context(), "net", ""); !errors.As(err, &refused) || refused.Code != 409 ||
		!strings.Contains(err.Error(), "Quota exceeded") {
		t.Errorf("a quota: %v", err)
	}
	if _, err := client(standin.Memory{creation: `201 <html>`}).MakeFloatingIP(t.Context(), "net", ""); err == nil {
		t.Error("half a reply counts as an answer")
	}
	if err := client(nil).Tag(t.Context(), tagged, "b"); !errors.Is(err, openstack.ErrNotFound) {
		t.Errorf("the tag of what is not there: %v", err)
	}
}

func TestAFloatingIPIsGivenToAPort(t *testing.T) {
	const request = "PUT /network/floatingips/x"
	asked := ""
	answers := standin.Memory{request: "200 {}"}
	c := answers.Client()
	c.Provider.HTTPClient.Transport = answers.Seeing(func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.Path + " " + strings.TrimSpace(string(body))
	})
	port := openstack.Resource{Ref: openstack.Ref{Kind: openstack.KindPort, ID: "p1"}}
	if err := c.Associate(t.Context(), resource(openstack.KindFloatingIP), port); err != nil ||
		asked != request+` {"floatingip":{"port_id":"p1"}}` {
		t.Errorf("%q, %v", asked, err)
	}
	if err := standin.Memory(nil).Client().Associate(t.Context(), resource(openstack.KindFloatingIP),
		port); !errors.Is(err, openstack.ErrNotFound) {
		t.Errorf("of what is not there: %v", err)
	}
}
