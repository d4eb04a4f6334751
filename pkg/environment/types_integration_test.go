//go:build integration

package environment_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// Whatever text a value holds, a real API server takes what Flux applies, and what the chart itself renders: its
// schemas know the type of every field.
func TestAnyTextIsTaken(t *testing.T) {
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
	cluster := withFlux(ctx, t, server)

	all := sources(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			f := newKustomizer(t)
			env := load(t, environment.Options{Name: s.name, Variables: variables(allVariables())})
			seen, sent := map[string]bool{}, map[string]bool{}
			for round := range hostile {
				given := s.given(t, all, func(i int) *string { return &hostile[(round+i)%len(hostile)] })
				parts, err := s.render(t, env, f, given.values)
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				for part, objects := range parts {
					for _, object := range objects {
						text, err := object.MarshalJSON()
						if err != nil {
							t.Fatal(err)
						}
						if object.GetKind() == "CustomResourceDefinition" || sent[string(text)] {
							continue // what stands for a remote one; what another round sent
						}
						sent[string(text)] = true
						if namespace := object.GetNamespace(); namespace != "" {
							err := cluster.Create(
								ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
							if err != nil && !apierrors.IsAlreadyExists(err) {
								t.Fatal(err)
							}
						}
						err = cluster.Create(ctx, object, client.DryRunAll,
							client.FieldValidation(metav1.FieldValidationStrict))
						if err != nil && !apierrors.IsAlreadyExists(err) {
							t.Errorf("round %d: %s: %s %s: %v", round, part, object.GetKind(), object.GetName(), err)
						}
						seen[object.GetKind()] = true
					}
				}
			}
			for _, kind := range []string{"Kustomization", "GitRepository", "Secret", "Namespace", "Deployment",
				"Cluster", "MachineDeployment", "CronJob"} {
				if !seen[kind] {
					t.Errorf("no %s was sent: %s", kind, fmt.Sprint(seen))
				}
			}
		})
	}
}
