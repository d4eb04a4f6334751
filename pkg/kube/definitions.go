package kube

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// definitionsPage is the number of CRDs in one request: a CRD can have a megabyte of schemas, and all of them together
// would be a large part of the CLI's memory.
const definitionsPage = 20

// AddDefinitions adds CustomResourceDefinitions to a scheme, as Definitions needs it. Clients of that scheme read them
// as protobuf: decoding the schemas as JSON takes seven times as long.
func AddDefinitions(scheme *runtime.Scheme) error {
	if err := apiutil.AddToProtobufScheme(apiextensionsv1.AddToScheme); err != nil {
		return err
	}
	return apiextensionsv1.AddToScheme(scheme)
}

// Definitions lists CustomResourceDefinitions without their schemas and managed fields, which are most of their bytes.
func Definitions(ctx context.Context, c client.Reader, opts ...client.ListOption) (
	[]apiextensionsv1.CustomResourceDefinition, error) {
	var all []apiextensionsv1.CustomResourceDefinition
	next := ""
	for {
		var page apiextensionsv1.CustomResourceDefinitionList
		err := c.List(ctx, &page, append([]client.ListOption{client.Limit(definitionsPage), client.Continue(next)},
			opts...)...)
		if err != nil {
			return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
		}
		for _, crd := range page.Items {
			crd.TypeMeta = metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(),
				Kind: "CustomResourceDefinition"} // a typed client leaves it empty
			all = append(all, withoutSchemas(crd))
		}
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

func withoutSchemas(crd apiextensionsv1.CustomResourceDefinition) apiextensionsv1.CustomResourceDefinition {
	crd.ManagedFields = nil
	delete(crd.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Schema = nil
	}
	return crd
}
