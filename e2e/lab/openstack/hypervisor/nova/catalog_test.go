package nova

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serveCatalog serves an identity service with a catalog, and the services in it. The service broken answers 500.
func serveCatalog(t *testing.T, services []string, broken string) {
	t.Helper()
	version := func(id string) any {
		return map[string]any{"versions": []any{map[string]any{"id": id, "status": "CURRENT"}}}
	}
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch path := strings.Trim(r.URL.Path, "/"); {
		case path == "v3/auth/tokens":
			var catalog []any
			for _, service := range services {
				catalog = append(catalog, map[string]any{"type": service, "endpoints": []any{
					map[string]any{"interface": "public", "url": server.URL + "/" + service}}})
			}
			w.Header().Set("X-Subject-Token", "t")
			w.WriteHeader(http.StatusCreated)
			answer = map[string]any{"token": map[string]any{"catalog": catalog, "expires_at": "2099-01-01T00:00:00Z"}}
		case path == broken:
			w.WriteHeader(http.StatusInternalServerError)
		case path == "block-storage":
			answer = version("v3.0")
		case path == "compute" || path == "network" || path == "image" || path == "load-balancer":
			answer = version("v2.0")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "clouds.yaml")
	content := fmt.Sprintf(`{"clouds":{"admin":{"auth":{"auth_url":"%s/v3","username":"u","password":"p",
		"project_name":"p","user_domain_name":"d","project_domain_name":"d"}}}}`, server.URL)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OS_CLIENT_CONFIG_FILE", file)
}

// An older cloud has no octavia. If octavia does not answer, the cloud may have load balancers.
func TestConnect(t *testing.T) {
	const all = "compute network image block-storage load-balancer"
	for name, tc := range map[string]struct {
		services, broken    string
		fails, hasBalancers bool
	}{
		"all services":    {all, "", false, true},
		"no octavia":      {strings.TrimSuffix(all, " load-balancer"), "", false, false},
		"octavia is down": {all, "load-balancer", true, false},
		"no network":      {strings.Replace(all, "network ", "", 1), "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			serveCatalog(t, strings.Fields(tc.services), tc.broken)
			got, err := Connect(t.Context(), "admin")
			if (err != nil) != tc.fails {
				t.Fatalf("error %v", err)
			}
			if err == nil && (got.balancer != nil) != tc.hasBalancers {
				t.Errorf("it has load balancers: %t", got.balancer != nil)
			}
		})
	}
}
