//go:build integration

package environment_test

import (
	"context"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// What machines are defined with is held against the providers' own CRDs on a real API server, which refuses
// a field that it does not know.
func TestDefinitionsAreWhatTheProvidersTake(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	crds, err := apiserver.ClusterAPIDefinitions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, definitions := range []func(context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error){
		apiserver.RKE2Definitions, apiserver.OpenStackDefinitions, apiserver.ServerGroupDefinition,
		apiserver.AWSDefinitions,
	} {
		more, err := definitions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		crds = append(crds, more...)
	}
	server, err := apiserver.Start(crds...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	c, err := client.New(server.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dryRunDefinitions(ctx, t, c)
}
