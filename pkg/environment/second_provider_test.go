package environment_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// A management cluster on Docker has what a workload cluster on AWS needs of it: the providers, with Ignition, and the
// credentials. Its bootstrap cluster has nothing of that.
func TestSecondProvider(t *testing.T) {
	hub := load(t, environment.Options{Sets: []string{"components.capa.enabled=management-only",
		"cluster.bootstrap_formats={ignition}", "cluster.aws.credentials=" + awsProfile}})
	aws := environment.Options{Name: "kubeadm-capa", Variables: variables(awsVariables())}
	needed := load(t, asWorkload(aws)).Providers()

	inPhase := func(phase environment.Phase) (components map[string]*unstructured.Unstructured, secrets int) {
		objects, err := hub.Render(phase, nil)
		if err != nil {
			t.Fatal(err)
		}
		components = map[string]*unstructured.Unstructured{}
		for _, object := range objects {
			switch {
			case object.GetKind() == "Kustomization":
				components[object.GetName()] = object
			case object.GetKind() == "Secret" && object.GetName() == "telco-cloud-init-aws-credentials":
				secrets++
			}
		}
		return components, secrets
	}
	components, secrets := inPhase(environment.Management)
	if secrets != 1 {
		t.Errorf("%d Secrets with credentials", secrets)
	}
	for _, name := range needed {
		if components[name] == nil {
			t.Errorf("the management cluster lacks %s", name)
			continue
		}
		variables, _, _ := unstructured.NestedStringMap(components[name].Object, "spec", "postBuild", "substitute")
		for variable, value := range variables {
			if strings.HasSuffix(variable, "BOOTSTRAP_FORMAT_IGNITION") && value != "true" {
				t.Errorf("%s does not take Ignition: %s is %q", name, variable, value)
			}
		}
	}
	if components, secrets = inPhase(environment.Bootstrap); components["capa"] != nil || secrets != 0 {
		t.Errorf("the bootstrap cluster has %v and %d Secrets", components["capa"], secrets)
	}
}

// Components of no environment: they are off, and whoever turns them on gets them as Flux takes them. The releases of
// vSphere and Metal3 are stand-ins.
func TestComponentsOfNoEnvironment(t *testing.T) {
	names := []string{"capm3", "capv", "metallb"}
	for _, off := range []string{"kubeadm-capd", "rke2-capd"} {
		components, err := load(t, environment.Options{Name: off}).Components(environment.Management)
		if err != nil {
			t.Fatal(err)
		}
		for _, component := range components {
			if slices.Contains(names, component.Name) {
				t.Errorf("%s has %s", off, component.Name)
			}
		}
	}
	for _, name := range names {
		on := load(t, environment.Options{Sets: []string{"components." + name + ".enabled=management-only",
			"proxies.http_proxy=http://proxy:3128"}})
		objects := applied(t, on, name)
		if len(objects) < 3 {
			t.Errorf("%s has only %d objects", name, len(objects))
		}
		for _, object := range objects {
			if text := string(toYAML(t, []*unstructured.Unstructured{object})); strings.Contains(text, "VSPHERE") {
				t.Errorf("%s keeps a variable:\n%s", name, text)
			}
		}
	}
}

// The login of vSphere comes from a Secret that the user makes: values would show it in the Kustomization.
func TestLoginOfVSphereIsASecretOfTheUser(t *testing.T) {
	env := load(t, environment.Options{Sets: []string{"components.capv.enabled=management-only",
		"components.capv.spec.postBuild.substituteFrom[0].kind=Secret",
		"components.capv.spec.postBuild.substituteFrom[0].name=vsphere"}})
	rendered, err := env.Render(environment.Management, nil)
	if err != nil {
		t.Fatal(err)
	}
	login := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata":   map[string]any{"name": "vsphere", "namespace": "flux-system"},
		"stringData": map[string]any{"VSPHERE_USERNAME": "robot", "VSPHERE_PASSWORD": "s3cret"}}}
	kustomization := find(t, rendered, "Kustomization", "capv")
	objects, err := newKustomizer(t).Apply(t.Context(), kustomization, append(rendered, login))
	if err != nil {
		t.Fatal(err)
	}
	found, _, _ := unstructured.NestedString(find(t, objects, "Secret", "capv-manager-bootstrap-credentials").Object,
		"stringData", "credentials.yaml")
	if want := "username: 'robot'\npassword: 's3cret'"; found != want {
		t.Errorf("the provider's credentials are %q, want %q", found, want)
	}
	if _, gates, _ := unstructured.NestedSlice(kustomization.Object, "spec", "healthCheckExprs"); !gates {
		t.Error("the user's spec replaces the health checks of webhooks")
	}
}
