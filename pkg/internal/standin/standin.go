// Package standin stands in for OpenStack in tests that ask no real one.
package standin

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/credentials"
)

// Cloud is not OpenStack: it gives set answers to the requests of tests, in the form that the real services answer. The
// tests with the tag openstack ask the real ones.
type Cloud struct {
	*httptest.Server
	sync.Mutex                  // of the fields below, while the server runs
	Answers    map[string]Reply // of "METHOD /path"
	Asked      []string
	Token      string // the only one that counts
	Logins     int
	body       string // of the last login
}

// Reply is one answer.
type Reply struct {
	Status int
	Body   any // text is sent as it is
}

// Object is one of JSON.
type Object = map[string]any

// New plays a cloud that has all that a small cluster needs.
func New(t *testing.T, start func(http.Handler) *httptest.Server) *Cloud {
	t.Helper()
	s := &Cloud{Answers: goodAnswers()}
	s.Server = start(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust its certificate
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers one request.
func (s *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	key := r.Method + " " + r.URL.Path
	s.Asked = append(s.Asked, key)
	if key == "POST /identity/v3/auth/tokens" {
		s.login(w, r)
		return
	}
	if r.Header.Get("X-Auth-Token") != s.Token && !strings.HasPrefix(r.URL.Path, "/identity") {
		send(w, Reply{401, Object{"error": Object{"message": "The request you have made requires authentication."}}})
		return
	}
	given, known := s.Answers[key]
	if !known {
		given = Reply{404, Object{"itemNotFound": Object{"message": "not found"}}}
	}
	send(w, given)
}

func (s *Cloud) login(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.body = string(body)
	if given, refused := s.Answers["login"]; refused {
		if text, ok := given.Body.(string); ok { // some proxies show what they got
			given.Body = text + s.body
		}
		send(w, given)
		return
	}
	s.Logins++
	s.Token = fmt.Sprintf("token-%d", s.Logins)
	w.Header().Set("X-Subject-Token", s.Token)
	var catalog []Object
	for _, name := range slices.Sorted(maps.Keys(endpoints())) {
		catalog = append(catalog, Object{"type": name, "endpoints": []Object{
			{"interface": "public", "region_id": "RegionOne", "url": s.URL + endpoints()[name]},
			{"interface": "internal", "region_id": "RegionOne", "url": "http://127.0.0.1:1"}}})
	}
	token := Object{"catalog": catalog, "project": Object{"id": "p1", "name": "telco"},
		"roles": []Object{{"name": "member"}}}
	for key, value := range s.Answers["token"].Object() {
		token[key] = value
	}
	send(w, Reply{201, Object{"token": token}})
}

// Object returns the body of an answer, nil when it is a text.
func (a Reply) Object() Object {
	of, _ := a.Body.(Object)
	return of
}

func endpoints() map[string]string {
	return map[string]string{"identity": "/identity", "compute": "/compute/v2.1", "network": "/network",
		"image": "/image", "block-storage": "/volume/v3", "load-balancer": "/lb"}
}

func send(w http.ResponseWriter, a Reply) {
	if text, ok := a.Body.(string); ok {
		w.WriteHeader(a.Status)
		_, _ = io.WriteString(w, text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	_ = json.NewEncoder(w).Encode(a.Body)
}

// OK answers 200.
func OK(body Object) Reply { return Reply{200, body} }

// goodAnswers are those of a cloud with room for one control plane machine and one worker, exactly.
func goodAnswers() map[string]Reply {
	versions := OK(Object{"versions": []Object{{"id": "v2.0", "status": "CURRENT"}}})
	full := func(limit, used int) Object { return Object{"limit": limit, "used": used, "reserved": 0} }
	return map[string]Reply{
		"GET /network/": versions, "GET /image/": versions, "GET /lb/": versions,
		"GET /identity/": OK(Object{"versions": Object{"values": []Object{{"id": "v3.14", "status": "stable"}}}}),
		"GET /compute/v2.1/servers/detail": OK(Object{"servers": []Object{
			{"id": "s-other", "flavor": Object{"vcpus": 8, "ram": 8192}, "image": "",
				"tags": []string{"cluster-init:cluster=m-other"}}, {"id": "s-none", "tags": []string{}}}}),
		"GET /compute/v2.1/os-server-groups": OK(Object{"server_groups": []Object{}}),
		"GET /compute/v2.1/flavors/detail": OK(Object{"flavors": []Object{
			{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1},
			{"id": "2", "name": "m1.small", "vcpus": 2, "ram": 2048, "disk": 20},
			{"id": "3", "name": "m1.medium", "vcpus": 4, "ram": 4096, "disk": 40},
			{"id": "4", "name": "m1.diskless", "vcpus": 2, "ram": 4096, "disk": 0}}}),
		"GET /compute/v2.1/os-keypairs": OK(
			Object{"keypairs": []Object{{"keypair": Object{"name": "ada"}}}}),
		"GET /compute/v2.1/os-keypairs/ada": OK(Object{"keypair": Object{"name": "ada"}}),
		"GET /compute/v2.1/os-availability-zone": OK(
			Object{"availabilityZoneInfo": []Object{{"zoneName": "az1", "zoneState": Object{"available": true}},
				{"zoneName": "az2", "zoneState": Object{"available": false}}}}),
		"GET /compute/v2.1/limits": OK(
			Object{"limits": Object{"absolute": Object{"maxTotalInstances": 3, "totalInstancesUsed": 1,
				"maxTotalCores": 6, "totalCoresUsed": 0, "maxTotalRAMSize": 6144, "totalRAMUsed": 0,
				"maxServerGroups": 10, "totalServerGroupsUsed": 0}}}),
		"GET /image/v2/images": OK(
			Object{"images": []Object{{"id": ImageID, "name": "kube", "status": "active", "min_disk": 10,
				"min_ram": 1024, "size": 5 << 30}}}),
		"GET /network/v2.0/networks": OK(
			Object{"networks": []Object{{"id": NetworkID, "name": "public", "subnets": []string{"x"},
				"tags": []string{}}}}),
		"GET /network/v2.0/subnets": OK(
			Object{"subnets": []Object{{"id": "sub-1", "name": "sub"}}}),
		"GET /network/v2.0/routers":         OK(Object{"routers": []Object{}}),
		"GET /network/v2.0/ports":           OK(Object{"ports": []Object{}}),
		"GET /network/v2.0/security-groups": OK(Object{"security_groups": []Object{}}),
		"GET /network/v2.0/floatingips": OK(
			Object{"floatingips": []Object{{"floating_ip_address": "192.0.2.7", "port_id": nil},
				{"floating_ip_address": "192.0.2.8", "port_id": "port-8"}}}),
		"GET /network/v2.0/quotas/p1/details.json": OK(
			Object{"quota": Object{"network": full(1, 0), "subnet": full(1, 0), "router": full(1, 0),
				"port": full(5, 1), "floatingip": full(1, 0), "security_group": full(3, 1),
				"security_group_rule": full(100, 4)}}),
		"GET /volume/v3/limits": OK(
			Object{"limits": Object{"absolute": Object{"maxTotalVolumes": 2, "totalVolumesUsed": 0,
				"maxTotalVolumeGigabytes": 40, "totalGigabytesUsed": 0}}}),
		"GET /volume/v3/types": OK(
			Object{"volume_types": []Object{{"id": "t1", "name": "ssd"}}}),
		"GET /volume/v3/os-availability-zone": OK(
			Object{"availabilityZoneInfo": []Object{{"zoneName": "nova", "zoneState": Object{"available": true}}}}),
		"GET /lb/v2.0/lbaas/loadbalancers": OK(Object{"loadbalancers": []Object{}}),
		"GET /network/v2.0/network-ip-availabilities/" +
			NetworkID: {403, Object{"NeutronError": Object{"message": "rule is disallowed by policy"}}},
	}
}

// The image and the external network that it has.
const (
	ImageID   = "11111111-1111-1111-1111-111111111111"
	NetworkID = "22222222-2222-2222-2222-222222222222"
)

// Catalog is one with those services only.
func (s *Cloud) Catalog(names ...string) []Object {
	var catalog []Object
	for _, name := range names {
		catalog = append(catalog, Object{"type": name,
			"endpoints": []Object{{"interface": "public", "region_id": "RegionOne", "url": s.URL + endpoints()[name]}}})
	}
	return catalog
}

// Secret is the password of Credentials.
const Secret = "s3cret#: \"'{x}"

// Credentials are those that log in to s; change are pairs of variables of an openrc file and their other values.
func (s *Cloud) Credentials(t *testing.T, change ...string) openstack.Cloud {
	t.Helper()
	variables := map[string]string{"OS_AUTH_URL": s.URL + "/identity/v3", "OS_USERNAME": "ada",
		"OS_USER_DOMAIN_NAME": "Default",
		"OS_PASSWORD":         Secret, "OS_PROJECT_NAME": "telco", "OS_PROJECT_DOMAIN_ID": "default",
		"OS_REGION_NAME": "RegionOne", "OS_INTERFACE": "public"}
	for i := 0; i < len(change); i += 2 {
		variables[change[i]] = change[i+1]
	}
	cloud, err := credentials.Find(func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	})
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}
