//go:build integration

package apiserver

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// ClusterAPIDefinitions returns the CRDs of Cluster API, CABPK, KCP and CAPD at the release that the root module pins,
// as the modules hold them, without the conversion webhooks that their kustomizations add and without descriptions.
func ClusterAPIDefinitions(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	const clusterAPI, docker = "sigs.k8s.io/cluster-api", "sigs.k8s.io/cluster-api/test"
	version, err := pinned(ctx, clusterAPI)
	if err != nil {
		return nil, err
	}
	core, err := moduleSource(ctx, ".", clusterAPI)
	if err != nil {
		return nil, err
	}
	capd, err := moduleSource(ctx, ".", docker+"@"+version)
	if err != nil {
		return nil, err
	}
	return readDefinitions(&envtest.CRDInstallOptions{
		ErrorIfPathMissing: true,
		Paths: []string{
			filepath.Join(core, "core/config/crd/bases"),
			filepath.Join(core, "bootstrap/kubeadm/config/crd/bases"),
			filepath.Join(core, "controlplane/kubeadm/config/crd/bases"),
			filepath.Join(capd, "infrastructure/docker/config/crd/bases"),
		},
	})
}

// RKE2Definitions returns the CRDs of the bootstrap and control plane providers for RKE2 at the release that the lab
// pins, as the module holds them.
func RKE2Definitions(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return labDefinitions(ctx, "cluster-api-provider-rke2", "github.com/rancher/cluster-api-provider-rke2",
		"bootstrap/config/crd/bases", "controlplane/config/crd/bases")
}

// OpenStackDefinitions returns those of Cluster API's provider for OpenStack.
func OpenStackDefinitions(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return labDefinitions(ctx, "cluster-api-provider-openstack", "sigs.k8s.io/cluster-api-provider-openstack",
		"config/crd/bases")
}

// ServerGroupDefinition returns that of the OpenStack Resource Controller which clusters use.
func ServerGroupDefinition(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return labDefinitions(ctx, "openstack-resource-controller", "github.com/k-orc/openstack-resource-controller/v2",
		"config/crd/bases/openstack.k-orc.cloud_servergroups.yaml")
}

// AWSDefinitions returns those of Cluster API's provider for AWS which clusters use.
func AWSDefinitions(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	const bases = "config/crd/bases/infrastructure.cluster.x-k8s.io_"
	return labDefinitions(ctx, "cluster-api-provider-aws", "sigs.k8s.io/cluster-api-provider-aws/v2",
		bases+"awsclusters.yaml", bases+"awsmachinetemplates.yaml")
}

// labDefinitions reads the CRDs below paths of a module that the lab pins, and drops their descriptions.
func labDefinitions(ctx context.Context, module, path string, paths ...string) (
	[]*apiextensionsv1.CustomResourceDefinition, error) {
	dir, err := labModule(ctx, module)
	if err != nil {
		return nil, err
	}
	source, err := moduleSource(ctx, dir, path)
	if err != nil {
		return nil, err
	}
	found := &envtest.CRDInstallOptions{ErrorIfPathMissing: true}
	for _, each := range paths {
		found.Paths = append(found.Paths, filepath.Join(source, filepath.FromSlash(each)))
	}
	return readDefinitions(found)
}

// readDefinitions reads the CRDs that the options name, and drops their descriptions.
func readDefinitions(found *envtest.CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if err := envtest.ReadCRDFiles(found); err != nil {
		return nil, fmt.Errorf("read CRDs: %w", err)
	}
	for _, crd := range found.CRDs {
		for _, version := range crd.Spec.Versions {
			if version.Schema != nil {
				dropDescriptions(version.Schema.OpenAPIV3Schema)
			}
		}
	}
	return found.CRDs, nil
}

// dropDescriptions removes what a schema says to readers: it is most of its size, and an API server and its clients
// spend most of a test on it. What the schema allows stays as it is.
func dropDescriptions(schema *apiextensionsv1.JSONSchemaProps) {
	if schema == nil {
		return
	}
	schema.Description = ""
	for name, property := range schema.Properties {
		dropDescriptions(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		dropDescriptions(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		dropDescriptions(schema.AdditionalProperties.Schema)
	}
}

// AwaitGone waits until a definition is gone, for at most 20 s. Until then the API server lists it, but may no longer
// serve its kind.
func AwaitGone(ctx context.Context, c client.Client, definition string) error {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 20*time.Second, true,
		func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKey{Name: definition}, found)
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
	if err != nil {
		return fmt.Errorf("wait until CustomResourceDefinition %s is gone: %w", definition, err)
	}
	return nil
}
