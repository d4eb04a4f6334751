package capi_test

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// answering gives one answer to every list of Machines.
type answering struct {
	client.Client
	answer error
}

func (a answering) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if list.GetObjectKind().GroupVersionKind().Kind == "MachineList" && a.answer != nil {
		return a.answer
	}
	return a.Client.List(ctx, list, opts...)
}

// A CRD that the API server does not serve has no objects. A kind that it served before and answers 404 for is unknown:
// the answer must not look like an empty list.
func TestDiscoverServed(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}
	for name, answer := range map[string]error{
		"served":             nil,
		"answers 404":        apierrors.NewNotFound(schema.GroupResource{Resource: "machines"}, ""),
		"answers 503":        apierrors.NewServiceUnavailable("starting"),
		"not served anymore": &meta.NoKindMatchError{GroupKind: kind.GroupKind()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := capi.DiscoverServed(t.Context(), answering{withMachine(t, kind), answer}, "management")
			switch {
			case answer != nil && err == nil:
				t.Errorf("got %v, want an error", got.All())
			case answer == nil && err != nil:
				t.Error(err)
			case answer == nil && (len(got.All()) != 1 || got.All()[0].Name != "demo-a"):
				t.Errorf("got %v, want the Machine demo-a", got.All())
			}
		})
	}
}

// withMachine returns a client that knows one Machine, its labelled CRD, and a CRD that is not served.
func withMachine(t *testing.T, kind schema.GroupVersionKind) client.Client {
	t.Helper()
	scheme, err := capi.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for known := range scheme.AllKnownTypes() {
		if known.Group != kind.Group {
			mapper.Add(known, meta.RESTScopeNamespace)
		}
	}
	mapper.Add(kind, meta.RESTScopeNamespace)
	machine := &unstructured.Unstructured{}
	machine.SetGroupVersionKind(kind)
	machine.SetNamespace("management")
	machine.SetName("demo-a")
	machine.SetUID("1")
	objects := []client.Object{machine}
	for _, name := range []string{"machines." + kind.Group, "absents.infra.example.com"} {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
		crd.Labels = map[string]string{capi.MoveLabel: ""}
		objects = append(objects, crd)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(objects...).Build()
}
