package workload

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// place stands in for an infrastructure provider.
type place struct {
	provider.Provider
	shares   bool
	machines []provider.Machine
	err      error
}

func (place) Place() string                                          { return "the place" }
func (p place) SharesNames() bool                                    { return p.shares }
func (p place) Machines(context.Context) ([]provider.Machine, error) { return p.machines, p.err }
func (place) Preflight(context.Context, provider.Reporter) error     { return nil }

// A new cluster must not take over the resources of another one: they would be deleted with it.
func TestResourcesOfAnotherClusterAreRefused(t *testing.T) {
	self, there := Key{"management", "shop"}, []provider.Machine{{Name: "shop-lb"}}
	for name, tc := range map[string]struct {
		provider    place
		others      []Key
		says, warns string
	}{
		"new": {place{shares: true}, []Key{{"team-b", "till"}}, "", ""},
		"the management cluster has its name": {place{shares: true}, []Key{self},
			"the cluster management/shop has the same name, and the place finds", ""},
		"in another namespace": {place{shares: true}, []Key{{"team-b", "shop"}},
			"the cluster team-b/shop has the same name", ""},
		"in another namespace, and namespaces count": {place{}, []Key{{"team-b", "shop"}}, "", ""},
		"its machines exist": {place{machines: there}, nil,
			"the place has the machine shop-lb of another cluster shop, which the management cluster", ""},
		"machines of another tool": {place{err: fault.New(fault.ClusterForeign, "container x is foreign", "")},
			nil, "container x is foreign", ""},
		"the engine is elsewhere": {place{err: errors.New("no engine")}, nil, "",
			"not checked: whether the place has machines of another cluster shop: no engine"},
		"no list of machines": {place{err: provider.ErrNotSupported}, nil, "", ""},
		"it has a release":    {place{shares: true, machines: there}, []Key{{"team-a", "shop"}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, flux.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			var objects []client.Object
			for _, key := range tc.others {
				if key.Namespace != "management" {
					r, err := flux.HelmRelease(flux.Release{Namespace: key.Namespace, Name: key.Name})
					if err != nil {
						t.Fatal(err)
					}
					key.label(r)
					objects = append(objects, r)
					continue
				}
				objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
					"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name}}})
			}
			c := Cluster{Environment: shop(t), Self: Key{"management", "mgmt"}, Provider: tc.provider,
				Management: &kube.Cluster{Name: "management",
					Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}}
			notes := &pipeline.Notes{}
			err := c.checkFirst(t.Context(), notes)
			if tc.says == "" && err != nil || tc.says != "" && (fault.CodeOf(err) != fault.ClusterForeign ||
				!strings.Contains(err.Error(), tc.says) || !strings.Contains(fault.HintOf(err), "another --name")) {
				t.Errorf("error %v, hint %q, want %q", err, fault.HintOf(err), tc.says)
			}
			if got := strings.Join(notes.Warnings, "\n"); got != tc.warns {
				t.Errorf("warned %q, want %q", got, tc.warns)
			}
		})
	}
}
