package flux

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/ssa"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// EnvironmentVariable is a variable that every controller gets, such as a proxy. Its value may be a secret.
type EnvironmentVariable struct{ Name, Value string }

const (
	// environmentSecret holds the values of the variables: an address of a proxy may hold a password.
	environmentSecret = "telco-cloud-init-flux-environment"
	// environmentVersion is on the controllers' Pods. It holds the version of the Secret: the Pods are recreated when
	// that changes.
	environmentVersion = "cluster-init.io/environment"
)

// PodSecrets returns the names of the Secrets that Flux's own Pods read.
func PodSecrets() []string { return []string{PullSecretName, environmentSecret} }

// secretOf is the Secret with the variables.
func secretOf(environment []EnvironmentVariable) *unstructured.Unstructured {
	values := map[string]any{}
	for _, v := range environment {
		values[v.Name] = v.Value
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": environmentSecret, "namespace": Namespace}, "type": "Opaque",
		"stringData": values}}
}

// references are the variables as a container references them.
func references(environment []EnvironmentVariable) []any {
	var env []any
	for _, v := range environment {
		env = append(env, map[string]any{"name": v.Name,
			"valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": environmentSecret, "key": v.Name}}})
	}
	return env
}

// applyEnvironment applies the Secret with the variables, with its namespace, before the Pods that need it. It
// annotates the Deployments in objects, so that a changed Secret recreates their Pods. Without variables it deletes the
// Secret of an earlier run.
func applyEnvironment(ctx context.Context, c *kube.Cluster, manager *ssa.ResourceManager,
	objects []*unstructured.Unstructured, options ssa.ApplyOptions) error {
	var first []*unstructured.Unstructured
	given := false
	for _, object := range objects {
		isSecret := object.GetKind() == "Secret" && object.GetName() == environmentSecret
		if given = given || isSecret; isSecret || object.GetKind() == "Namespace" {
			first = append(first, object)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: environmentSecret}}
	if !given {
		if err := c.Delete(ctx, secret); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete Secret %s of the %s cluster: %w", environmentSecret, c.Name, err)
		}
		return nil
	}
	if _, err := manager.ApplyAllStaged(ctx, first, options); err != nil {
		return err
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return fmt.Errorf("read Secret %s of the %s cluster: %w", environmentSecret, c.Name, err)
	}
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		if err := unstructured.SetNestedField(object.Object, secret.ResourceVersion, "spec", "template", "metadata",
			"annotations", environmentVersion); err != nil {
			return err
		}
	}
	return nil
}
