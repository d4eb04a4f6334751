package flux

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	local "github.com/cluster-init/cluster-init/pkg/kustomize"
)

// Kustomizer does in memory what Flux's kustomize-controller does with a Kustomization: target namespace, patches, build, and variables by Flux's
// own function. It is not for several goroutines at once.
type Kustomizer struct {
	files  filesys.FileSystem
	strict bool
	builds map[string]resmap.ResMap // what was built already, before the variables
}

// NewKustomizer returns a Kustomizer that reads the folders of components below / of files, where it writes one of its own. When it is strict, a
// variable that nobody gives is an error; Flux takes it for empty.
func NewKustomizer(files filesys.FileSystem, strict bool) *Kustomizer {
	return &Kustomizer{files, strict, map[string]resmap.ResMap{}}
}

// Apply returns what Flux applies for a Kustomization; the Secrets that it takes variables from are among rendered.
func (k *Kustomizer) Apply(ctx context.Context, kustomization *unstructured.Unstructured, rendered []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	resources, err := k.build(kustomization)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		name := resource.GetKind() + " " + resource.GetName()
		filled, err := kustomize.SubstituteVariables(ctx, secrets{objects: rendered}, *kustomization, resource, kustomize.SubstituteWithStrict(k.strict))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if filled == nil { // it says that it has no variables
			filled = resource
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
func (k *Kustomizer) build(kustomization *unstructured.Unstructured) (resmap.ResMap, error) {
	folder, _, _ := unstructured.NestedString(kustomization.Object, "spec", "path")
	patches, _, _ := unstructured.NestedSlice(kustomization.Object, "spec", "patches")
	namespace, _, _ := unstructured.NestedString(kustomization.Object, "spec", "targetNamespace")
	overlay, err := yaml.Marshal(map[string]any{"resources": []string{path.Join("..", folder)}, "patches": patches, "namespace": namespace})
	if err != nil {
		return nil, err
	}
	if built, known := k.builds[string(overlay)]; known {
		return built.DeepCopy(), nil
	}
	if err := k.files.WriteFile("/overlay/kustomization.yaml", overlay); err != nil {
		return nil, err
	}
	built, err := local.Build(local.Options{Files: k.files, Folder: "/overlay", Root: "/", Title: inContent})
	if err != nil {
		return nil, err
	}
	k.builds[string(overlay)] = built
	return built.DeepCopy(), nil
}

// inContent is a path as the content has it.
func inContent(path string) string { return strings.TrimPrefix(path, "/") }

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
