//go:build integration && capa

package providers

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/manifest"
)

// certManagerManifest renders what the lab's bundle has.
func certManagerManifest(ctx context.Context, t *testing.T) []byte {
	t.Helper()
	const module = "github.com/cert-manager/cert-manager"
	dir, err := moduleDir(ctx, "cert-manager")
	if err != nil {
		t.Fatal(err)
	}
	source, err := golang.Source(ctx, dir, module)
	if err != nil {
		t.Fatal(err)
	}
	version, err := golang.Version(filepath.Join(dir, "go.mod"), module)
	if err != nil {
		t.Fatal(err)
	}
	made, err := manifest.CertManager(filepath.Join(source, "deploy"), version, "cert-manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return made.Content
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
	if conversion, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "conversion", "webhook", "clientConfig"); found {
		all = append(all, conversion.(map[string]any))
	}
	webhooks, _, _ := unstructured.NestedFieldNoCopy(object.Object, "webhooks")
	list, _ := webhooks.([]any)
	for _, webhook := range list {
		all = append(all, webhook.(map[string]any)["clientConfig"].(map[string]any))
	}
	return all
}
