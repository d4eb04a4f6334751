//go:build integration

package pivot_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// TestControllersHaveToLookAfterAMove: clusterctl's move brings no status and raises the Cluster's generation with its
// resume. The test plays the controllers of the target, one object after the other.
func TestControllersHaveToLookAfterAMove(t *testing.T) {
	s := newStage(t)
	want := []string{"Cluster mgmt", "KubeadmConfig mgmt-cp-a", "KubeadmConfig mgmt-md-1-b",
		"KubeadmControlPlane mgmt-cp",
		"Machine mgmt-cp-a", "Machine mgmt-md-1-b", "MachineDeployment mgmt-md", "MachineHealthCheck mgmt-md",
		"MachineSet mgmt-md-1"}
	s.observe(s.Source.Client, want...) // so that there is something that a move could bring
	if got := s.notReconciled(s.Source.Client); len(got) != 0 {
		t.Fatalf("before the move, at the source: %v", got)
	}
	if _, err := pivot.Run(t.Context(), s.Input); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(s.lines, "\n"))
	}
	for len(want) > 0 {
		if got := s.notReconciled(s.Target.Client); !slices.Equal(got, want) {
			t.Fatalf("not reconciled are %q, want %q", got, want)
		}
		s.observe(s.Target.Client, want[0])
		want = want[1:]
	}
	if got := s.notReconciled(s.Target.Client); len(got) != 0 {
		t.Errorf("when all has been looked at: %v", got)
	}
	// What was seen before the resume, and before Flux changed a spec, is not enough.
	s.set(s.Target.Client, "Cluster mgmt", int64(1), "status", "observedGeneration")
	s.set(s.Target.Client, "MachineDeployment mgmt-md", int64(2), "spec", "replicas")
	if got := s.notReconciled(s.Target.Client); !slices.Equal(
		got, []string{"Cluster mgmt", "MachineDeployment mgmt-md"}) {
		t.Errorf("after a change: %v", got)
	}
}

// TestKindsThatSayTheirGeneration holds what Cluster API's and CAPD's CRDs have against what is said of their
// controllers: a kind that a new release brings has to be looked up in its source.
func TestKindsThatSayTheirGeneration(t *testing.T) {
	silent := []string{"DevMachinePool", "DockerMachinePool"} // no controller writes theirs
	crds := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := servers.target.Client.List(t.Context(), crds); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, crd := range crds.Items {
		for _, v := range crd.Spec.Versions {
			_, has := v.Schema.OpenAPIV3Schema.Properties["status"].Properties["observedGeneration"]
			says := capi.Object{APIVersion: crd.Spec.Group + "/" + v.Name, Kind: crd.Spec.Names.Kind}.SaysGeneration()
			if says != (has && !slices.Contains(silent, crd.Spec.Names.Kind)) {
				t.Errorf("%s %s: status.observedGeneration in its schema: %t, and its controller says it: %t",
					crd.Spec.Names.Kind, v.Name, has, says)
			}
			if says {
				seen++
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d versions of kinds have it", seen)
	}
}

// notReconciled returns what is unmet, as "Kind name".
func (s *stage) notReconciled(c client.Client) []string {
	s.t.Helper()
	unmet, err := selfmanaged.Controllers(s.t.Context(), c, s.Scope)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, u := range unmet {
		names = append(names, strings.Replace(u.Object, s.Scope.Namespace+"/", "", 1))
	}
	slices.Sort(names)
	return names
}

// observe has the controllers of objects note that they have seen them.
func (s *stage) observe(c client.Client, names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.set(c, name, s.get(c, name).GetGeneration(), "status", "observedGeneration")
	}
}

// set sets a field of an object of the fixture.
func (s *stage) set(c client.Client, name string, value any, path ...string) {
	s.t.Helper()
	u := s.get(c, name)
	err := unstructured.SetNestedField(u.Object, value, path...)
	if err == nil && path[0] == "status" {
		err = c.Status().Update(s.t.Context(), u)
	} else if err == nil {
		err = c.Update(s.t.Context(), u)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) get(c client.Client, name string) *unstructured.Unstructured {
	s.t.Helper()
	kind, name, _ := strings.Cut(name, " ")
	u := inNamespace(fixture.One(kind, name)[0])
	if err := c.Get(s.t.Context(), client.ObjectKey{Namespace: s.Scope.Namespace, Name: name}, u); err != nil {
		s.t.Fatal(err)
	}
	return u
}
