package environment_test

import (
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
