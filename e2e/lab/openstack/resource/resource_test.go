package resource

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

func TestEnsureCreatesOnce(t *testing.T) {
	service := &fake{}
	client := service.client(t)
	for range 2 {
		id, err := ensure(t.Context(), client, "flavors", "flavor", map[string]any{"name": "m1.small"})
		if err != nil || id != "id-of-m1.small" {
			t.Fatalf("id %q, %v", id, err)
		}
	}
	if count := service.count("POST"); count != 1 {
		t.Errorf("created %d times", count)
	}
}

// What depends on something else is refused until that has gone; what is not the project's to delete stays.
func TestEmptyGoesOnUntilNothingIsLeft(t *testing.T) {
	service := &fake{things: map[string][]map[string]any{
		"servers":       {{"id": "s1"}, {"id": "s2"}},
		"networks":      {{"id": "n1"}},
		"loadbalancers": {{"id": "b1"}},
		"routers":       {{"id": "r1"}},
		"ports": {{"id": "p1", "device_owner": "compute:nova"},
			{"id": "p2", "device_owner": "network:router_interface", "device_id": "r1"}},
		"security-groups": {{"id": "g1", "name": "default"}, {"id": "g2", "name": "own"}},
	}}
	refused := 0
	service.inUse = func(collection, id string) bool {
		if collection == "networks" && refused < 2 {
			refused++
			return true
		}
		return id == "p2" // a router's port goes only by taking it off the router
	}
	client := service.client(t)
	own := cloud{compute: client, network: client, volume: client, image: client, balancer: client}
	if err := empty(t.Context(), own, "project"); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(service.log, "DELETE /lbaas/loadbalancers/b1?cascade=true") {
		t.Errorf("the load balancer was not deleted with all that is in it: %v", service.log)
	}
	if refused != 2 {
		t.Errorf("asked for the network %d times while it was in use", refused)
	}
	for collection, things := range service.things {
		if collection == "security-groups" {
			if len(things) != 1 || things[0]["id"] != "g1" {
				t.Errorf("security groups left: %v", things)
			}
		} else if len(things) != 0 {
			t.Errorf("%s left: %v", collection, things)
		}
	}
}

func TestQuotasGoToTheServiceThatHasThem(t *testing.T) {
	service := &fake{things: map[string][]map[string]any{"projects": {{"id": "p", "name": "demo"}}}}
	client := service.client(t)
	admin := cloud{identity: client, compute: client, network: client, volume: client, balancer: client}
	tests := map[string]struct {
		project string
		quotas  Quotas
		says    string
		puts    []string
	}{
		"one of the network": {"demo", Quotas{"port": 3}, "", []string{"PUT /quotas/p"}},
		"two services": {"demo", Quotas{"port": 3, "cores": 4}, "",
			[]string{"PUT /os-quota-sets/p", "PUT /quotas/p"}},
		"all generous ones": {"demo", generous(), "", []string{"PUT /os-quota-sets/p", "PUT /quotas/p",
			"PUT /os-quota-sets/p", "PUT /lbaas/quotas/p"}},
		"a name of no service": {"demo", Quotas{"ports": 3}, "there is no quota [ports]", nil},
		"a missing project":    {"other", Quotas{"port": 3}, "there is no project other", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			service.log = nil
			err := setQuotas(t.Context(), admin, tc.project, tc.quotas)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want %q", err, tc.says)
			}
			var puts []string
			for _, line := range service.log {
				if strings.HasPrefix(line, "PUT") {
					puts = append(puts, line)
				}
			}
			if strings.Join(puts, ",") != strings.Join(tc.puts, ",") {
				t.Errorf("changed %v, want %v", puts, tc.puts)
			}
		})
	}
}

func TestReportedWantsAReportSinceTheStart(t *testing.T) {
	since := time.Date(2026, 11, 21, 12, 0, 0, 700_000_000, time.UTC)
	tests := map[string]struct {
		state, updated string
		good           bool
	}{
		"in the same second": {"up", "2026-11-21T12:00:00.000000", true},
		"later":              {"up", "2026-11-21T12:00:09.123456", true},
		"before the start":   {"up", "2026-11-21T11:59:59.900000", false},
		"never":              {"up", "", false},
		"down":               {"down", "2026-11-21T12:00:09.000000", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			workers := []worker{{Binary: "nova-compute", Host: "compute1", State: tc.state, UpdatedAt: tc.updated}}
			missing := silent(workers, since, []string{"nova-compute/compute1"})
			if (len(missing) == 0) != tc.good {
				t.Errorf("missing %v", missing)
			}
		})
	}
}

func TestCloudsKeepEachOther(t *testing.T) {
	installation := configuration.Installation{Address: "192.0.2.1"}
	file := filepath.Join(t.TempDir(), "clouds.yaml")
	for _, name := range []string{"one", "two", "one"} {
		err := ChangeClouds(file, func(entries map[string]any) {
			entries[name] = Entry(installation, Login{User: name, Project: name, Password: "of-" + name})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := ChangeClouds(file, func(entries map[string]any) {
		if len(entries) != 2 || PasswordOf(entries["one"]) != "of-one" || PasswordOf(entries["two"]) != "of-two" ||
			PasswordOf(entries["none"]) != "" {
			t.Errorf("entries: %v", entries)
		}
		delete(entries, "one")
	}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(content), "of-one") || !strings.Contains(string(content), "of-two") {
		t.Errorf("file, %v:\n%s", err, content)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
