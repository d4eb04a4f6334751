package known_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
)

// Each provider has what every verb needs of it, and its parts outside of this package. For a new provider these tests
// say what is missing: docs/contributing/extend.md.
func TestEachProviderIsWhole(t *testing.T) {
	places := map[string]string{}
	for _, name := range known.Names() {
		t.Run(name, func(t *testing.T) {
			env, p := providerOf(t, name)
			if other, taken := places[p.Place()]; taken || p.Place() == "" {
				t.Errorf("its place %q is that of %q", p.Place(), other)
			}
			places[p.Place()] = name
			hasContent(t, name, p)
			reportsItsKinds(t, env, p)
			hasOptionalParts(t, p)
			sharesNames(t, name, p)
			if err := p.Start(t.Context(), provider.Machine{Name: "no-such-machine"}); err == nil {
				t.Error("it starts a machine that does not exist")
			}
		})
	}
}

// providerOf returns the provider of the environment kubeadm-NAME, with an engine that does not answer.
func providerOf(t *testing.T, name string) (*environment.Environment, provider.Provider) {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-" + name, Content: clusterinit.Content(),
		NamesOnly: true})
	if err != nil {
		t.Fatalf("each provider has an environment kubeadm-NAME: %v", err)
	}
	p, err := known.Of(env, &docker.Client{Binary: filepath.Join(t.TempDir(), "docker")})
	if err != nil {
		t.Fatal(err)
	}
	return env, p
}

// sharesNames fails unless a provider that names a cluster's resources without its namespace reports this: a second
// cluster of the name would take over the resources of the first.
func sharesNames(t *testing.T, name string, p provider.Provider) {
	t.Helper()
	sharer, is := p.(provider.NameSharer)
	if got, want := is && sharer.SharesNames(), name != "capo"; got != want { // CAPO's names begin with the namespace
		t.Errorf("SharesNames is %t, want %t", got, want)
	}
}

// hasContent fails if the chart or the components lack a part of the provider.
func hasContent(t *testing.T, name string, p provider.Provider) {
	t.Helper()
	for _, folder := range []string{"charts/telco-cloud-init/templates/" + strings.ToLower(p.Place()),
		"kustomize-components/" + name, "kustomize-components/cluster/kubeadm-" + name} {
		if info, err := fs.Stat(clusterinit.Content(), folder); err != nil || !info.IsDir() {
			t.Errorf("there is no folder %s: %v", folder, err)
		}
	}
}

// The chart's schema accepts the providers of this list, and no other.
func TestTheSchemaHasTheSameProviders(t *testing.T) {
	text, err := fs.ReadFile(clusterinit.Content(), "charts/telco-cloud-init/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Cluster struct {
				Properties struct {
					Provider struct {
						Enum []string `json:"enum"`
					} `json:"infra_provider"`
				} `json:"properties"`
			} `json:"cluster"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	accepted := schema.Properties.Cluster.Properties.Provider.Enum
	if slices.Sort(accepted); !slices.Equal(accepted, known.Names()) {
		t.Errorf("cluster.infra_provider may be %q, and the providers are %q", accepted, known.Names())
	}
}

// The chart's own list, of which it asks each provider for problems, is the same.
func TestTheChartHasTheSameProviders(t *testing.T) {
	text, err := fs.ReadFile(clusterinit.Content(), "charts/telco-cloud-init/templates/_providers.tpl")
	if err != nil {
		t.Fatal(err)
	}
	if list := strings.Join(known.Names(), " "); !strings.Contains(string(text), "\n"+list+"\n") {
		t.Errorf("_providers.tpl does not list %q", list)
	}
}

// reportsItsKinds fails unless Kinds has the infrastructure cluster and machine of a cloud, for any served version. Of
// containers Cluster API's own kinds say enough.
func reportsItsKinds(t *testing.T, env *environment.Environment, p provider.Provider) {
	t.Helper()
	suffixes := []string{"clusters", "machines"}
	for _, kind := range p.Kinds() {
		if kind.Version != "" || kind.Resource != strings.ToLower(kind.Resource) {
			t.Errorf("kind %v of %s: want no version, and the plural in lower case", kind, env.ClusterName())
		}
		suffixes = slices.DeleteFunc(suffixes, func(s string) bool {
			return kind.Group == "infrastructure.cluster.x-k8s.io" && strings.HasSuffix(kind.Resource, s)
		})
	}
	if len(suffixes) > 0 && !p.ReachesEngine() {
		t.Errorf("no kind ends in %q: a run would not say what keeps them from being ready", suffixes)
	}
}

// hasOptionalParts fails for a provider that can neither list its machines nor say how a person finds them, and for one
// whose machines are known and cannot be inspected.
func hasOptionalParts(t *testing.T, p provider.Provider) {
	t.Helper()
	_, err := p.Machines(t.Context())
	_, unsupported := p.(provider.CleanupUnsupported)
	switch notListed := errors.Is(err, provider.ErrNotSupported); {
	case notListed && !unsupported:
		t.Error("its machines cannot be listed, and it does not say how a person finds them (CleanupUnsupported)")
	case !notListed && unsupported:
		t.Error("its machines can be listed, and it says that they cannot be searched (CleanupUnsupported)")
	case notListed:
		return
	}
	if _, can := p.(provider.Inspector); !can {
		t.Error("its machines are known, and cannot be inspected by diagnose (Inspector)")
	}
	if _, cleans := p.(provider.Cleaner); !cleans && !p.ReachesEngine() {
		t.Error("its machines are outside of the Docker engine, and nothing cleans them up (Cleaner)")
	}
}
