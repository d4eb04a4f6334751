package flux

import (
	"context"
	"fmt"
	"path"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/kustomize"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	local "github.com/cluster-init/cluster-init/pkg/kustomize"
)

// Kustomizer does in memory what Flux's kustomize-controller does with a Kustomization: target namespace, patches,
// build, and variables by Flux's own function. It must not be used by several goroutines at once.
type Kustomizer struct {
	files  filesys.FileSystem
	builds map[string]resmap.ResMap // finished builds, before the variables
}

// strictSubstitutions is the default of the gate StrictPostBuildSubstitutions in the kustomize-controller of Version: a
// variable without a value and without a default is an error.
const strictSubstitutions = true

// SubstitutionError reports that Flux cannot fill in the variables of an object.
type SubstitutionError struct {
	Object string // kind and name
	Err    error
}

func (e SubstitutionError) Error() string {
	return fmt.Sprintf("fill in the variables of %s: %v", e.Object, e.Err)
}

// Unwrap returns Flux's own error.
func (e SubstitutionError) Unwrap() error { return e.Err }

// NewKustomizer returns a Kustomizer that reads the folders of components below / of files, where it writes its own
// kustomizations.
func NewKustomizer(files filesys.FileSystem) *Kustomizer {
	return &Kustomizer{files, map[string]resmap.ResMap{}}
}

// Apply returns what Flux applies for a Kustomization. rendered contains the Secrets with its variables. Variables that
// cannot be filled in are a SubstitutionError.
func (k *Kustomizer) Apply(ctx context.Context, kustomization *unstructured.Unstructured,
	rendered []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	resources, err := k.build(kustomization)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		name := resource.GetKind() + " " + resource.GetName()
		filled, err := substitute(ctx, kustomization, resource, rendered)
		if err != nil {
			return nil, SubstitutionError{name, err}
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

// substitute fills in the variables of a resource as kustomize-controller does.
func substitute(ctx context.Context, kustomization *unstructured.Unstructured, resource *resource.Resource,
	rendered []*unstructured.Unstructured) (*resource.Resource, error) {
	if _, has, _ := unstructured.NestedMap(kustomization.Object, "spec", "postBuild"); !has {
		return resource, nil
	}
	strategy, _, _ := unstructured.NestedString(kustomization.Object, "spec", "postBuild", "substituteStrategy")
	filled, err := kustomize.SubstituteVariables(ctx, secrets{objects: rendered}, *kustomization, resource,
		kustomize.SubstituteWithStrict(strictSubstitutions),
		kustomize.SubstituteWithAlways(strategy == string(kustomizev1.SubstituteStrategyAlways)))
	if filled == nil { // without variables
		filled = resource
	}
	return filled, err
}

// build returns kustomize's result for a Kustomization, as a copy.
func (k *Kustomizer) build(kustomization *unstructured.Unstructured) (resmap.ResMap, error) {
	folder, _, _ := unstructured.NestedString(kustomization.Object, "spec", "path")
	patches, _, _ := unstructured.NestedSlice(kustomization.Object, "spec", "patches")
	namespace, _, _ := unstructured.NestedString(kustomization.Object, "spec", "targetNamespace")
	overlay, err := yaml.Marshal(map[string]any{"resources": []string{path.Join("..", folder)}, "patches": patches,
		"namespace": namespace})
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

// inContent returns a path as a path in the content.
func inContent(path string) string { return strings.TrimPrefix(path, "/") }

// secrets is a cluster that contains only the Secrets among objects.
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
