package environment_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/fluxcd/pkg/kustomize"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// kustomizer does in memory what kustomize-controller does with a Kustomization: target namespace, patches, build, and variables by Flux's own
// function.
type kustomizer struct {
	files  filesys.FileSystem
	builds map[string]resmap.ResMap // what was built already, before the variables
}

func newKustomizer(t *testing.T) *kustomizer {
	t.Helper()
	files, _ := components(t)
	return &kustomizer{files, map[string]resmap.ResMap{}}
}

// applied returns what Flux applies for a component of the management cluster.
func applied(t *testing.T, env *environment.Environment, component string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := env.Render(environment.Management, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range rendered {
		if object.GetKind() == "Kustomization" && object.GetName() == component {
			objects, err := newKustomizer(t).apply(t.Context(), object, rendered)
			if err != nil {
				t.Fatalf("component %s: %v", component, err)
			}
			return objects
		}
	}
	t.Fatalf("component %s is not rendered", component)
	return nil
}

// apply returns what Flux applies for a Kustomization; the Secrets that it takes variables from are among rendered.
func (f *kustomizer) apply(ctx context.Context, kustomization *unstructured.Unstructured, rendered []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	resources, err := f.build(kustomization)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		name := resource.GetKind() + " " + resource.GetName()
		// Strict, so that a variable that nobody gives is found here.
		filled, err := kustomize.SubstituteVariables(ctx, secrets{objects: rendered}, *kustomization, resource, kustomize.SubstituteWithStrict(true))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		content, err := filled.MarshalJSON()
		object := &unstructured.Unstructured{}
		if err == nil {
			err = object.UnmarshalJSON(content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// build returns what kustomize makes of a Kustomization, a copy.
func (f *kustomizer) build(kustomization *unstructured.Unstructured) (resmap.ResMap, error) {
	folder, _, _ := unstructured.NestedString(kustomization.Object, "spec", "path")
	patches, _, _ := unstructured.NestedSlice(kustomization.Object, "spec", "patches")
	namespace, _, _ := unstructured.NestedString(kustomization.Object, "spec", "targetNamespace")
	overlay, err := yaml.Marshal(map[string]any{"resources": []string{filepath.Join("..", folder)}, "patches": patches, "namespace": namespace})
	if err != nil {
		return nil, err
	}
	if built, known := f.builds[string(overlay)]; known {
		return built.DeepCopy(), nil
	}
	if err := f.files.WriteFile("/overlay/kustomization.yaml", overlay); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(f.files, "/overlay")
	if err != nil {
		return nil, err
	}
	f.builds[string(overlay)] = built
	return built.DeepCopy(), nil
}

// secrets is a cluster that has nothing but the Secrets among objects.
type secrets struct {
	client.Client
	objects []*unstructured.Unstructured
}

// Get reads a Secret as the API server stores it: with stringData in data.
func (s secrets) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	secret, isSecret := into.(*corev1.Secret)
	for _, object := range s.objects {
		if !isSecret || object.GetKind() != "Secret" || client.ObjectKeyFromObject(object) != key {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, secret); err != nil {
			return err
		}
		for name, value := range secret.StringData {
			if secret.Data == nil {
				secret.Data = map[string][]byte{}
			}
			secret.Data[name] = []byte(value)
		}
		return nil
	}
	return fmt.Errorf("there is no %T %s", into, key)
}
