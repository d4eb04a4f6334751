package cli

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/distribution"
)

// index is that of a Helm repository.
const index = `apiVersion: v1
entries:
  shop: [{name: shop, version: 1.2.3, urls: [shop-1.2.3.tgz]}, {name: shop, version: 1.2.0}]
  depot: [{name: depot, version: v2.0.0}]
`

// behindLogin serves what handler has over TLS, to robot with the password token. It returns the server's host and
// port, and the authority of its certificate.
func behindLogin(t *testing.T, handler http.Handler) (host, authority string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "robot" || password != "token" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Header.Del("Authorization")
		handler.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "https://"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificate().Raw}))
}

// helmRepository is one with index; it redirects away below /moved, and has a page for people below /page.
func helmRepository(t *testing.T) (host, authority string) {
	t.Helper()
	var leaked []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked = append(leaked, r.URL.Path)
	}))
	t.Cleanup(func() {
		other.Close()
		if len(leaked) > 0 {
			t.Errorf("another host without TLS was asked for %q", leaked)
		}
	})
	return behindLogin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stable/index.yaml":
			_, _ = io.WriteString(w, index)
		case "/moved/index.yaml":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/page/index.yaml":
			_, _ = io.WriteString(w, "<html>please log in: s3cret</html>")
		case "/large/index.yaml":
			_, _ = io.WriteString(w, strings.Repeat("- - - - - - -\n", 1<<18))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
}

// chartRegistry is a registry with the chart shop 1.2.3+build.
func chartRegistry(t *testing.T) (host, authority string) {
	t.Helper()
	registry := distribution.Start(t)
	image, err := random.Image(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(registry.Host+"/charts/shop:1.2.3_build", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, image); err != nil {
		t.Fatal(err)
	}
	return behindLogin(t, httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: registry.Host}))
}

// Each chart is looked for with the login and the certificates that the clusters get, and with nothing of this machine.
func TestChartsAreChecked(t *testing.T) {
	helm, helmCA := helmRepository(t)
	registry, registryCA := chartRegistry(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	good := map[string]any{"username": "robot", "password": "token"}
	wrong := map[string]any{"username": "robot", "password": "s3cret"}
	mine := map[string]any{"secret": "mine"}
	for title, tc := range map[string]struct {
		url, chart, version, ca string
		auth                    map[string]any
		want, hint              string // with a hint it is a problem
	}{
		"there": {"https://" + helm + "/stable", "shop", "1.2.3", helmCA, good,
			"HelmRepository/chart-one: it can be read, and has chart shop 1.2.3", ""},
		"an equal version": {"https://" + helm + "/stable/", "depot", "2.0.0", helmCA, good,
			"HelmRepository/chart-one: it can be read, and has chart depot 2.0.0", ""},
		"another version": {"https://" + helm + "/stable", "shop", "1.2.4", helmCA, good,
			"it has no version 1.2.4 of chart shop", "Check"},
		"another chart": {"https://" + helm + "/stable", "shops", "1.2.3", helmCA, good, "it has no chart shops",
			"Check"},
		"no repository": {"https://" + helm + "/none", "shop", "1.2.3", helmCA, good, "/none: 404", "Check the address"},
		"a wrong token": {"https://" + helm + "/stable", "shop", "1.2.3", helmCA, wrong,
			"HelmRepository/chart-one: Helm repository https://" + helm + "/stable: 401",
			"components.one.chart.auth"},
		"no login": {"https://" + helm + "/stable", "shop", "1.2.3", helmCA, nil, "401", "components.one.chart.auth"},
		"an unknown authority": {"https://" + helm + "/stable", "shop", "1.2.3", "", good, "certificate",
			"components.one.chart.ca"},
		"a Secret of the cluster": {"https://" + helm + "/stable", "shop", "1.2.3", "", mine,
			"HelmRepository/chart-one: not checked: its credentials are in the cluster's Secret mine", ""},
		"a page for people": {"https://" + helm + "/page", "shop", "1.2.3", helmCA, good,
			"the answer is not the index of a Helm repository", "Check"},
		"a large index": {"https://" + helm + "/large", "shop", "1.2.3", helmCA, good,
			"HelmRepository/chart-one: it can be read; not checked: its charts", ""},
		"moved to http": {"https://" + helm + "/moved", "shop", "1.2.3", helmCA, good, "without TLS", "Check"},
		"in a registry": {"oci://" + registry + "/charts", "shop", "1.2.3+build", registryCA, good,
			"OCIRepository/chart-one: it can be read, and has tag 1.2.3_build", ""},
		"another version in a registry": {"oci://" + registry + "/charts", "shop", "1.2.3", registryCA, good,
			"registry oci://" + registry + "/charts/shop: ", "tag or version"},
		"a wrong token of a registry": {"oci://" + registry + "/charts", "shop", "1.2.3+build", registryCA, wrong,
			"OCIRepository/chart-one: registry oci://" + registry + "/charts/shop: ", "components.one.chart.auth"},
		"no login for a registry": {"oci://" + registry + "/charts", "shop", "1.2.3+build", registryCA, nil, "401",
			"components.one.chart.auth"},
		"an unknown authority of a registry": {"oci://" + registry + "/charts", "shop", "1.2.3+build", "", good,
			"certificate", "components.one.chart.ca"},
	} {
		t.Run(title, func(t *testing.T) {
			chart := map[string]any{"url": tc.url, "name": tc.chart, "version": tc.version}
			if tc.auth != nil {
				chart["auth"] = tc.auth
			}
			if tc.ca != "" {
				chart["ca"] = tc.ca
			}
			found := checkRepositories(t.Context(), withComponents(t, map[string]any{"one": chart}))
			all := append(append([]string{}, found.Seen...), found.Warnings...)
			for _, problem := range found.Problems {
				if fault.CodeOf(problem) != fault.SourceUnreadable || tc.hint == "" ||
					!strings.Contains(fault.HintOf(problem), tc.hint) {
					t.Errorf("%v has code %s and hint %q, want the hint %q", problem, fault.CodeOf(problem),
						fault.HintOf(problem), tc.hint)
				}
				all = append(all, problem.Error()+fault.HintOf(problem))
			}
			if len(all) != 1 || !strings.Contains(all[0], tc.want) || strings.Contains(all[0], "s3cret") {
				t.Errorf("found %q, want %q", all, tc.want)
			}
		})
	}
}

// Two charts of one repository are two questions; one chart of both clusters is one.
func TestEachChartIsCheckedOnce(t *testing.T) {
	chart := func(name, version string) map[string]any { // of one spec: nothing in it names the component
		return map[string]any{"url": "https://charts.invalid", "name": name, "version": version,
			"auth": map[string]any{"secret": "mine"}}
	}
	found := checkRepositories(t.Context(), withComponents(t, map[string]any{"one": chart("shop", "1.2.3"),
		"two": chart("depot", "2.0.0"), "three": chart("depot", "3.0.0")}))
	if len(found.Warnings) != 3 || len(found.Seen)+len(found.Problems) != 0 {
		t.Errorf("found %q, %q and %v, want one warning for each chart", found.Seen, found.Warnings, found.Problems)
	}
}

// withComponents is an environment with these charts as components of both clusters.
func withComponents(t *testing.T, charts map[string]any) *environment.Environment {
	t.Helper()
	components := map[string]any{}
	for name, chart := range charts {
		components[name] = map[string]any{"enabled": true, "namespaces": []string{name}, "chart": chart}
	}
	text, err := yaml.Marshal(map[string]any{"secret_fingerprint_key": "key", "components": components})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		ValuesFiles: []string{file}})
	if err != nil {
		t.Fatal(fmt.Errorf("%w\n%s", err, text))
	}
	return env
}
