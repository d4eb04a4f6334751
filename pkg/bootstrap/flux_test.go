package bootstrap

import (
	"net/url"
	"testing"

	"golang.org/x/net/http/httpproxy"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// Proxies refuse addresses of a cluster: a chart that is fetched through one never comes.
func TestFluxAsksNoProxyForWhatIsInTheCluster(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"proxies.http_proxy=http://proxy:3128,proxies.https_proxy=http://proxy:3128,proxies.no_proxy=corp.example", "cluster.pod_cidr=192.168.0.0/16"}})
	if err != nil {
		t.Fatal(err)
	}
	config := httpproxy.Config{}
	for _, v := range proxyVariables(env, environment.Management) {
		switch v.Name {
		case "HTTP_PROXY":
			config.HTTPProxy = v.Value
		case "HTTPS_PROXY":
			config.HTTPSProxy = v.Value
		case "NO_PROXY":
			config.NoProxy = v.Value
		}
	}
	choose := config.ProxyFunc()
	for address, through := range map[string]bool{
		"http://source-controller.flux-system.svc.cluster.local./ocirepository/x.tar.gz": false,
		"http://source-controller.flux-system.svc.cluster.local/ocirepository/x.tar.gz":  false,
		"http://notification-controller.flux-system/":                                    true, // Flux never writes it so
		"https://10.96.0.1/api":                              false,
		"https://192.168.1.2:6443/api":                       false,
		"http://kubeadm-capd-registry:5000/v2/":              false,
		"https://git.corp.example/platform.git":              false,
		"https://github.com/example/platform.git":            true,
		"https://ghcr.io/v2/":                                true,
		"https://git.cluster.local.example.org/platform.git": true,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if proxy, err := choose(u); err != nil || (proxy != nil) != through {
			t.Errorf("%s: proxy %v (%v), want one: %t", address, proxy, err, through)
		}
	}
}
