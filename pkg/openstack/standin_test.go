package openstack

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
)

// standIn is not OpenStack: it gives set answers to the requests of these tests, in the form that the real services
// answer. openstack_test.go asks the real ones.
type standIn struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]reply // of "METHOD /path"
	asked   []string
	token   string // the only one that counts
	logins  int
	body    string // of the last login
}

type reply struct {
	status int
	body   any // text is sent as it is
}

type object = map[string]any

// newStandIn plays a cloud that has all that a small cluster needs.
func newStandIn(t *testing.T, start func(http.Handler) *httptest.Server) *standIn {
	t.Helper()
	s := &standIn{answers: goodAnswers()}
	s.Server = start(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust its certificate
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers one request.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Method + " " + r.URL.Path
	s.asked = append(s.asked, key)
	if key == "POST /identity/v3/auth/tokens" {
		s.login(w, r)
		return
	}
	if r.Header.Get("X-Auth-Token") != s.token && !strings.HasPrefix(r.URL.Path, "/identity") {
		send(w, reply{401, object{"error": object{"message": "The request you have made requires authentication."}}})
		return
	}
	given, known := s.answers[key]
	if !known {
		given = reply{404, object{"itemNotFound": object{"message": "not found"}}}
	}
	send(w, given)
}

func (s *standIn) login(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.body = string(body)
	if given, refused := s.answers["login"]; refused {
		if text, ok := given.body.(string); ok { // some proxies show what they got
			given.body = text + s.body
		}
		send(w, given)
		return
	}
	s.logins++
	s.token = fmt.Sprintf("token-%d", s.logins)
	w.Header().Set("X-Subject-Token", s.token)
	var catalog []object
	for _, name := range slices.Sorted(maps.Keys(endpoints())) {
		catalog = append(catalog, object{"type": name, "endpoints": []object{
			{"interface": "public", "region_id": "RegionOne", "url": s.URL + endpoints()[name]}, {"interface": "internal", "region_id": "RegionOne", "url": "http://127.0.0.1:1"}}})
	}
	token := object{"catalog": catalog, "project": object{"id": "p1", "name": "telco"}, "roles": []object{{"name": "member"}}}
	for key, value := range s.answers["token"].object() {
		token[key] = value
	}
	send(w, reply{201, object{"token": token}})
}

func (a reply) object() object {
	of, _ := a.body.(object)
	return of
}

func endpoints() map[string]string {
	return map[string]string{"identity": "/identity", "compute": "/compute/v2.1", "network": "/network", "image": "/image", "block-storage": "/volume/v3", "load-balancer": "/lb"}
}

func send(w http.ResponseWriter, a reply) {
	if text, ok := a.body.(string); ok {
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

func ok(body object) reply { return reply{200, body} }

// goodAnswers are those of a cloud with room for one control plane machine and one worker, exactly.
func goodAnswers() map[string]reply {
	versions := ok(object{"versions": []object{{"id": "v2.0", "status": "CURRENT"}}})
	full := func(limit, used int) object { return object{"limit": limit, "used": used, "reserved": 0} }
	return map[string]reply{
		"GET /network/": versions, "GET /image/": versions, "GET /lb/": versions,
		"GET /identity/": ok(object{"versions": object{"values": []object{{"id": "v3.14", "status": "stable"}}}}),
		"GET /compute/v2.1/servers/detail": ok(object{"servers": []object{
			{"id": "s-other", "flavor": object{"vcpus": 8, "ram": 8192}, "image": "", "tags": []string{"cluster-init:cluster=m-other"}}, {"id": "s-none", "tags": []string{}}}}),
		"GET /compute/v2.1/os-server-groups": ok(object{"server_groups": []object{}}),
		"GET /compute/v2.1/flavors/detail": ok(object{"flavors": []object{
			{"id": "1", "name": "m1.tiny", "vcpus": 1, "ram": 512, "disk": 1}, {"id": "2", "name": "m1.small", "vcpus": 2, "ram": 2048, "disk": 20},
			{"id": "3", "name": "m1.medium", "vcpus": 4, "ram": 4096, "disk": 40}, {"id": "4", "name": "m1.diskless", "vcpus": 2, "ram": 4096, "disk": 0}}}),
		"GET /compute/v2.1/os-keypairs":                            ok(object{"keypairs": []object{{"keypair": object{"name": "ada"}}}}),
		"GET /compute/v2.1/os-keypairs/ada":                        ok(object{"keypair": object{"name": "ada"}}),
		"GET /compute/v2.1/os-availability-zone":                   ok(object{"availabilityZoneInfo": []object{{"zoneName": "az1", "zoneState": object{"available": true}}, {"zoneName": "az2", "zoneState": object{"available": false}}}}),
		"GET /compute/v2.1/limits":                                 ok(object{"limits": object{"absolute": object{"maxTotalInstances": 3, "totalInstancesUsed": 1, "maxTotalCores": 6, "totalCoresUsed": 0, "maxTotalRAMSize": 6144, "totalRAMUsed": 0, "maxServerGroups": 10, "totalServerGroupsUsed": 0}}}),
		"GET /image/v2/images":                                     ok(object{"images": []object{{"id": imageID, "name": "kube", "status": "active", "min_disk": 10, "min_ram": 1024, "size": 5 << 30}}}),
		"GET /network/v2.0/networks":                               ok(object{"networks": []object{{"id": networkID, "name": "public", "subnets": []string{"x"}, "tags": []string{}}}}),
		"GET /network/v2.0/subnets":                                ok(object{"subnets": []object{{"id": "sub-1", "name": "sub"}}}),
		"GET /network/v2.0/routers":                                ok(object{"routers": []object{}}),
		"GET /network/v2.0/ports":                                  ok(object{"ports": []object{}}),
		"GET /network/v2.0/security-groups":                        ok(object{"security_groups": []object{}}),
		"GET /network/v2.0/floatingips":                            ok(object{"floatingips": []object{{"floating_ip_address": "192.0.2.7", "port_id": nil}, {"floating_ip_address": "192.0.2.8", "port_id": "port-8"}}}),
		"GET /network/v2.0/quotas/p1/details.json":                 ok(object{"quota": object{"network": full(1, 0), "subnet": full(1, 0), "router": full(1, 0), "port": full(5, 1), "floatingip": full(1, 0), "security_group": full(3, 1), "security_group_rule": full(100, 4)}}),
		"GET /volume/v3/limits":                                    ok(object{"limits": object{"absolute": object{"maxTotalVolumes": 2, "totalVolumesUsed": 0, "maxTotalVolumeGigabytes": 40, "totalGigabytesUsed": 0}}}),
		"GET /volume/v3/types":                                     ok(object{"volume_types": []object{{"id": "t1", "name": "ssd"}}}),
		"GET /volume/v3/os-availability-zone":                      ok(object{"availabilityZoneInfo": []object{{"zoneName": "nova", "zoneState": object{"available": true}}}}),
		"GET /network/v2.0/network-ip-availabilities/" + networkID: {403, object{"NeutronError": object{"message": "rule is disallowed by policy"}}},
	}
}

const (
	imageID   = "11111111-1111-1111-1111-111111111111"
	networkID = "22222222-2222-2222-2222-222222222222"
)

// cloud is the one that logs in to s.
func (s *standIn) cloud(t *testing.T, change ...string) Cloud {
	t.Helper()
	cloud, err := Find(lookup(openrc(append([]string{"OS_AUTH_URL", s.URL + "/identity/v3"}, change...)...)))
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}
