package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// A port that cannot be read is neither this cluster's nor another owner's.
func TestThePortOfTheFloatingIP(t *testing.T) {
	const port, servers = "GET /network/v2.0/ports/port-8", "GET /compute/v2.1/servers/detail"
	forbidden := standin.Reply{Status: 403, Body: standin.Object{"NeutronError": standin.Object{"message": "no"}}}
	atServer := standin.OK(standin.Object{"port": standin.Object{"id": "port-8", "device_id": "s1"}})
	ofCluster := standin.OK(standin.Object{"servers": []standin.Object{{"id": "s1", "tags": []string{tag}}}})
	for name, test := range map[string]struct {
		answers map[string]standin.Reply
		code    fault.Code
		problem string // of the error; empty: none
		note    string
	}{
		"at a server of the cluster": {answers: map[string]standin.Reply{port: atServer, servers: ofCluster}},
		"at another server": {answers: map[string]standin.Reply{port: atServer}, code: fault.CloudLacks,
			problem: "in use by port port-8, which is not this cluster's"},
		"in another project": {code: fault.CloudLacks, problem: "in use by port port-8, which is not this cluster's"},
		"unreadable": {answers: map[string]standin.Reply{port: {Status: 503, Body: "s3cret"}},
			code:    fault.CloudUnreachable,
			problem: "asking the cloud for the port of floating IP 192.0.2.8: 503 Service Unavailable"},
		"forbidden": {answers: map[string]standin.Reply{port: forbidden}, note: "the port of floating IP 192.0.2.8"},
		"at a server, and servers are forbidden": {answers: map[string]standin.Reply{port: atServer,
			servers: forbidden}, note: "look at servers: not checked"},
	} {
		t.Run(name, func(t *testing.T) {
			s, needs := standin.New(t, httptest.NewServer), someNeeds()
			needs.FloatingIP = "192.0.2.8"
			for key, answer := range test.answers {
				s.Answers[key] = answer
			}
			report, err := preflight(t, s, needs)
			switch {
			case test.problem == "" && err != nil:
				t.Errorf("error %v", err)
			case test.problem != "" && (fault.CodeOf(err) != test.code ||
				!strings.Contains(err.Error(), test.problem) || strings.Contains(err.Error(), "\n")):
				t.Errorf("error %v with code %s, want %q", err, fault.CodeOf(err), test.problem)
			}
			if test.note != "" && !slices.ContainsFunc(report.Notes, func(note string) bool {
				return strings.Contains(note, test.note)
			}) {
				t.Errorf("notes %q, want %q", report.Notes, test.note)
			}
		})
	}
}

// The services show an administrator the resources of all projects: those of another one are neither free nor there.
func TestAnAdministratorSeesOnlyTheProject(t *testing.T) {
	s := standin.New(t, func(cloud http.Handler) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kind, isNetwork := strings.CutPrefix(r.URL.Path, "/network/v2.0/")
			if isNetwork && !strings.Contains(kind, "/") && r.URL.Query().Get("project_id") != "p1" {
				foreign := standin.Object{"id": "foreign", "name": "public", "project_id": "p2", "tags": []string{tag},
					"floating_ip_address": "192.0.2.66", "subnets": []string{"x"}}
				w.Header().Set("Content-Type", "application/json")
				list := strings.ReplaceAll(kind, "-", "_")
				_ = json.NewEncoder(w).Encode(standin.Object{list: []standin.Object{foreign}})
				return
			}
			cloud.ServeHTTP(w, r)
		}))
	})
	client, err := openstack.Connect(t.Context(), s.Credentials(t))
	if err != nil {
		t.Fatal(err)
	}
	i := &inspection{client: client, needs: someNeeds()}
	i.needs.FloatingIP = "192.0.2.66"
	i.present(t.Context())
	if diff := cmp.Diff(present{serversKnown: true}, i.has, cmp.AllowUnexported(present{})); diff != "" {
		t.Errorf("what the cluster has (-want +got):\n%s", diff)
	}
	i.floatingIP(t.Context())
	if err := errors.Join(i.problems...); err == nil || err.Error() !=
		"floating IP 192.0.2.66 is not one of project telco; free there are: 192.0.2.7" {
		t.Errorf("the floating IP of another project: %v", err)
	}
	i.problems, i.needs.Network, i.needs.Router = nil, "public", "public"
	i.ownNetwork(t.Context())
	if err := errors.Join(i.problems...); err == nil ||
		!strings.Contains(err.Error(), `network "public" does not exist in project telco`) ||
		!strings.Contains(err.Error(), `router "public" does not exist in project telco`) {
		t.Errorf("network and router of another project: %v", err)
	}
}

// The address that machines share is checked once their network is known, with all other problems.
func TestTheVirtualAddressIsChecked(t *testing.T) {
	inUse := fault.New(fault.CloudLacks, "address 10.0.0.9 is in use", "Use another one.")
	for name, test := range map[string]struct {
		change   func(*Needs, *standin.Cloud)
		answer   error
		checked  bool
		problems []string
		warning  string
		later    bool // what comes after it is checked
	}{
		"it is free": {checked: true, later: true},
		"it is in use, and the router is missing": {change: func(n *Needs, _ *standin.Cloud) { n.Router = "r" },
			answer: inUse, checked: true, problems: []string{"10.0.0.9 is in use", `router "r" does not exist`},
			later: true},
		"the cloud does not answer": {answer: fault.Retryable(errors.New("no answer"), fault.CloudUnreachable, "Wait."),
			checked: true, problems: []string{"no answer"}},
		"no such network": {change: func(n *Needs, _ *standin.Cloud) { n.Network = "other" },
			problems: []string{`network "other" does not exist`}, later: true},
		"no such subnet": {change: func(n *Needs, _ *standin.Cloud) { n.Subnet = "other" },
			problems: []string{`"other" does not exist`}, later: true},
		"a shared network": {change: func(_ *Needs, s *standin.Cloud) {
			s.Answers["GET /network/v2.0/networks"] = standin.OK(standin.Object{"networks": []standin.Object{{"id": "n",
				"name": "public", "project_id": "another", "shared": true, "subnets": []string{"x"}}}})
		}, checked: true, later: true, warning: `network "public" is shared by another project`},
	} {
		t.Run(name, func(t *testing.T) {
			s, needs, checked := standin.New(t, httptest.NewServer), someNeeds(), 0
			needs.Network, needs.Resources.Networks = "public", 0
			needs.CheckAddress = func(context.Context) error { checked++; return test.answer }
			if test.change != nil {
				test.change(&needs, s)
			}
			report, err := preflight(t, s, needs)
			var problems []string
			if err != nil {
				problems = strings.Split(err.Error(), "\n")
			}
			if len(problems) != len(test.problems) || (checked > 0) != test.checked || checked > 1 {
				t.Fatalf("checked %d times: %v", checked, err)
			}
			for n, part := range test.problems {
				if !strings.Contains(problems[n], part) {
					t.Errorf("%q does not say %q", problems[n], part)
				}
			}
			if warned := strings.Join(report.Warnings, "\n"); !strings.Contains(warned, test.warning) ||
				test.warning == "" && strings.Contains(warned, "shared") {
				t.Errorf("warnings %q", warned)
			}
			if later := slices.ContainsFunc(s.Asked, func(asked string) bool {
				return strings.Contains(asked, "quotas")
			}); later != test.later {
				t.Errorf("what comes after it is checked: %t", later)
			}
		})
	}
}
