package service

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

func example() configuration.Installation {
	return configuration.Installation{
		Folder: "/state", Packages: "/packages", Address: "192.0.2.1",
		Secrets: configuration.Secrets{Database: "SECRET1", Messages: "SECRET2", Admin: "SECRET3", Service: "SECRET4",
			Demo: "SECRET5"},
	}
}

func all() []Service { return append(All(example()), Hypervisor("/state/lab", nil, nil)) }

// Everyone can read the arguments of every process.
func TestNothingSecretIsAnArgument(t *testing.T) {
	for _, service := range all() {
		for _, command := range service.Prepare {
			if strings.Contains(strings.Join(command.Args, " "), "SECRET") {
				t.Errorf("%s: %s has a password among its arguments", service.Name, command.Args[0])
			}
		}
		for _, daemon := range service.Daemons {
			if strings.Contains(strings.Join(daemon.Args, " "), "SECRET") {
				t.Errorf("%s has a password among its arguments", daemon.Name)
			}
		}
	}
}

// What a service needs stands before it: that is how StopOrder reads the list, and it rules out circles.
func TestNeedsStandBefore(t *testing.T) {
	var before []string
	for _, service := range all() {
		needs := slices.Clone(service.Needs)
		if len(service.Databases) > 0 {
			needs = append(needs, MariaDB)
		}
		for _, need := range needs {
			if !slices.Contains(before, need) {
				t.Errorf("%s needs %s, which does not stand before it", service.Name, need)
			}
		}
		before = append(before, service.Name)
	}
}

func TestStopOrder(t *testing.T) {
	groups := StopOrder(all())
	place := map[string]int{}
	for i, group := range groups {
		for _, daemon := range group {
			place[daemon] = i
		}
	}
	for _, pair := range [][2]string{
		{"hypervisor", "nova-api"}, {"hypervisor", "nova-compute1"}, {"nova-compute2", "rabbitmq"},
		{"nova-api", "keystone"},
		{"neutron", "keystone"}, {"keystone", "mariadb"}, {"cinder-volume", "mariadb"},
		{"hypervisor", "octavia"}, {"octavia", "keystone"},
	} {
		if place[pair[0]] >= place[pair[1]] {
			t.Errorf("%s does not stop before %s: %v", pair[0], pair[1], groups)
		}
	}
	if count := len(slices.Concat(groups...)); count != 18 {
		t.Errorf("%d daemons: %v", count, groups)
	}
}

func TestOnlyAddressesOfThisMachineAreOpened(t *testing.T) {
	for _, service := range all() {
		for _, daemon := range service.Daemons {
			for _, address := range daemon.Listen {
				if !strings.HasPrefix(address, "192.0.2.1:") && !strings.HasPrefix(address, "127.0.0.1:") {
					t.Errorf("%s opens %s", daemon.Name, address)
				}
			}
		}
	}
}

func TestProgramsSeeNothingOfTheUsers(t *testing.T) {
	t.Setenv("http_proxy", "http://proxy.example:3128")
	for _, service := range All(example()) {
		for _, daemon := range service.Daemons {
			if len(daemon.Env) == 0 || slices.ContainsFunc(daemon.Env,
				func(v string) bool { return strings.Contains(v, "proxy") }) {
				t.Errorf("%s has environment %v", daemon.Name, daemon.Env)
			}
			if !slices.Contains(daemon.Env, "PATH=/packages/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin") {
				t.Errorf("%s may find another Python: %v", daemon.Name, daemon.Env)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	for status, good := range map[int]bool{200: true, 300: true, 401: true, 404: true, 500: false, 503: false} {
		server := httptest.NewServer(http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		if err := answers(strings.TrimPrefix(server.URL, "http://"))(t.Context()); (err == nil) != good {
			t.Errorf("%d: %v", status, err)
		}
		server.Close()
	}
	if err := answers("127.0.0.1:1")(t.Context()); err == nil {
		t.Error("no answer, and no report of it")
	}
}
