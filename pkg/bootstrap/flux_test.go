package bootstrap

import (
	"net/url"
	"testing"

	"golang.org/x/net/http/httpproxy"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source"
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
		// Flux never writes it so
		"http://notification-controller.flux-system/":        true,
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

// Flux refuses all that nothing of ours needs.
func TestRestrictions(t *testing.T) {
	component := []string{"components.one.enabled=true", "components.one.repo=shared",
		"git_repo_templates.shared.url=https://git.example.org/a.git"}
	for name, tc := range map[string]struct {
		flux Flux
		sets []string
		want flux.Restrictions
	}{
		"management cluster": {Flux{Phase: environment.Management, Source: source.Embedded}, nil,
			flux.Restrictions{NoRemoteBases: true, NoCrossNamespaceRefs: true}},
		"a registry of the user's": {Flux{Phase: environment.Management, Source: source.OCI}, nil,
			flux.Restrictions{NoRemoteBases: true, NoCrossNamespaceRefs: true}},
		"Git": {Flux{Phase: environment.Management, Source: source.Git}, nil,
			flux.Restrictions{NoCrossNamespaceRefs: true}},
		"Git, asked for": {Flux{Phase: environment.Management, Source: source.Git},
			[]string{"flux.no_remote_bases=true"}, flux.Restrictions{NoRemoteBases: true, NoCrossNamespaceRefs: true}},
		"a component from Git": {Flux{Phase: environment.Management, Source: source.Embedded}, component,
			flux.Restrictions{NoCrossNamespaceRefs: true}},
		// the network is in another namespace than its source
		"bootstrap cluster": {Flux{Phase: environment.Bootstrap, Source: source.Embedded}, nil,
			flux.Restrictions{NoRemoteBases: true}},
		"a cluster of the user's": {Flux{Phase: environment.Bootstrap, Source: source.Embedded, Shared: true}, nil,
			flux.Restrictions{}},
		"other namespaces, asked for": {Flux{Phase: environment.Management, Source: source.Embedded},
			[]string{"flux.no_cross_namespace_refs=false"}, flux.Restrictions{NoRemoteBases: true}},
		"a component of one's own far": {Flux{Phase: environment.Management, Source: source.Embedded},
			[]string{"components.capi.namespace=other"}, flux.Restrictions{NoRemoteBases: true}},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(), Sets: tc.sets})
			if err != nil {
				t.Fatal(err)
			}
			tc.flux.Environment = env
			if got, err := tc.flux.restrictions(); err != nil || got != tc.want {
				t.Errorf("%+v (%v), want %+v", got, err, tc.want)
			}
		})
	}
}
