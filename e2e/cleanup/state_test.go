//go:build openstack

package cleanup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
)

// state is all that the project has, by kind and ID, as the services' own answers: not what our code makes of them.
type state map[string]string

func (p *project) state(t *testing.T) state {
	t.Helper()
	nova := *p.Compute
	nova.Microversion = "2.60"
	s := state{}
	for _, list := range []struct {
		service *gophercloud.ServiceClient
		path    string
		key     string
	}{
		{&nova, "servers/detail", "servers"}, {&nova, "os-server-groups", "server_groups"},
		{p.BlockStorage, "volumes/detail", "volumes"}, {p.BlockStorage, "snapshots/detail", "snapshots"},
		{p.Network, "networks?project_id=" + p.ProjectID, "networks"}, {p.Network, "subnets?project_id=" + p.ProjectID,
			"subnets"},
		{p.Network, "ports?project_id=" + p.ProjectID, "ports"}, {p.Network, "routers?project_id=" + p.ProjectID,
			"routers"},
		{p.Network, "floatingips?project_id=" + p.ProjectID, "floatingips"},
		{p.Network, "security-groups?project_id=" + p.ProjectID, "security_groups"},
	} {
		var all []map[string]any
		if err := json.Unmarshal(p.call(t, list.service, "GET", list.path, nil)[list.key], &all); err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			for _, changing := range []string{"updated_at", "updated", "revision_number"} {
				delete(one, changing)
			}
			text, err := json.Marshal(one)
			if err != nil {
				t.Fatal(err)
			}
			s[list.key+"/"+one["id"].(string)] = string(text)
		}
	}
	return s
}

// without is what s has and other has not: what was made since other.
func (s state) without(other state) state {
	rest := maps.Clone(s)
	for key := range other {
		delete(rest, key)
	}
	return rest
}

// kinds counts.
func (s state) kinds() map[string]int {
	count := map[string]int{}
	for key := range s {
		kind, _, _ := strings.Cut(key, "/")
		count[kind]++
	}
	return count
}

// expect fails the test unless the project has all of want, untouched, and nothing else.
func (p *project) expect(t *testing.T, what string, want state) {
	t.Helper()
	got := p.state(t)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch {
		case got[key] == "":
			t.Errorf("%s: gone, but not the cluster's: %s %s", what, key, want[key])
		case got[key] != want[key]:
			t.Errorf("%s: changed: %s\nfrom %s\nto   %s", what, key, want[key], got[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got.without(want))) {
		t.Errorf("%s: left of the cluster: %s %s", what, key, got[key])
	}
}
