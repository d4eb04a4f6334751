package resource

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
)

// fake is a service that has collections and answers as OpenStack's do.
type fake struct {
	mutex  sync.Mutex
	things map[string][]map[string]any // by collection
	log    []string
	// inUse says that a thing cannot be deleted yet.
	inUse func(collection, id string) bool
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	path := r.URL.Path
	if r.Method == http.MethodDelete {
		path = r.URL.RequestURI()
	}
	f.log = append(f.log, r.Method+" "+path)
	parts := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/lbaas"), "/"), "/")
	collection, key := parts[0], strings.TrimPrefix(strings.ReplaceAll(parts[0], "-", "_"), "os_")
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet:
		found := []map[string]any{}
		for _, thing := range f.things[collection] {
			if owner := r.URL.Query().Get("device_owner"); owner == "" || thing["device_owner"] == owner {
				found = append(found, thing)
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{key: found})
	case r.Method == http.MethodPost:
		var body map[string]map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		for kind, thing := range body {
			thing["id"] = "id-of-" + thing["name"].(string)
			f.things[collection] = append(f.things[collection], thing)
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]any{kind: thing})
		}
	case r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/remove_router_interface"):
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		f.drop("ports", body["port_id"])
	case r.Method == http.MethodPut:
		w.WriteHeader(http.StatusOK)
	case f.inUse != nil && f.inUse(collection, parts[1]):
		w.WriteHeader(http.StatusConflict)
	default:
		f.drop(collection, parts[1])
		w.WriteHeader(http.StatusNoContent)
	}
}

func (f *fake) drop(collection, id string) {
	f.things[collection] = slices.DeleteFunc(f.things[collection],
		func(thing map[string]any) bool { return thing["id"] == id })
}

// client returns a client of the fake that ends with the test.
func (f *fake) client(t *testing.T) *gophercloud.ServiceClient {
	t.Helper()
	if f.things == nil {
		f.things = map[string][]map[string]any{}
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return &gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{TokenID: "token"},
		Endpoint: server.URL + "/"}
}

func (f *fake) count(method string) int {
	n := 0
	for _, line := range f.log {
		if strings.HasPrefix(line, method+" ") {
			n++
		}
	}
	return n
}
