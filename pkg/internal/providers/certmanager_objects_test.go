//go:build integration && capa

package providers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// certManagerManifest returns what the lab's bundle has.
func certManagerManifest(t *testing.T) []byte {
	t.Helper()
	manifests, err := apiserver.ReadManifests()
	if err != nil {
		t.Fatal(err)
	}
	for url, content := range manifests {
		if strings.HasSuffix(url, "/cert-manager.yaml") {
			return content
		}
	}
	t.Fatal("the lab has rendered no manifest of cert-manager")
	return nil
}

// objects reads the objects of a manifest.
func objects(t *testing.T, text []byte) (all []*unstructured.Unstructured) {
	t.Helper()
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(&object.Object); err != nil {
			return all
		}
		if len(object.Object) > 0 {
			all = append(all, object)
		}
	}
}

// callLocalhost has the webhooks of a configuration call a port of this machine.
func callLocalhost(object *unstructured.Unstructured, port int) {
	for _, config := range clientConfigs(object) {
		path, _, _ := unstructured.NestedString(config, "service", "path")
		delete(config, "service")
		config["url"] = fmt.Sprintf("https://localhost:%d%s", port, path)
	}
}

// clientConfigs returns how the API server calls the webhooks of an object.
func clientConfigs(object *unstructured.Unstructured) (all []map[string]any) {
	if conversion, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "conversion", "webhook",
		"clientConfig"); found {
		all = append(all, conversion.(map[string]any))
	}
	webhooks, _, _ := unstructured.NestedFieldNoCopy(object.Object, "webhooks")
	list, _ := webhooks.([]any)
	for _, webhook := range list {
		all = append(all, webhook.(map[string]any)["clientConfig"].(map[string]any))
	}
	return all
}
