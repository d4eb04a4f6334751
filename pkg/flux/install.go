// Package flux installs Flux and handles its kinds: sources, HelmRelease, Kustomization, reconcile requests.
package flux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/flux2/v2/pkg/manifestgen/install"
	"github.com/fluxcd/pkg/ssa"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	"github.com/fluxcd/pkg/tar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Namespace is where Flux, the telco-cloud-init HelmRelease and its Kustomizations live.
const Namespace = "flux-system"

// Version is the Flux release that cluster-init installs.
const Version = "v2.9.5"

// VersionLabel is on the Deployment of each controller, and holds its Flux release.
const VersionLabel = "app.kubernetes.io/version"

// ManifestsURL is where the manifests of Version come from.
const ManifestsURL = "https://github.com/fluxcd/flux2/releases/download/" + Version + "/manifests.tar.gz"

// Controllers returns the parts of Flux that a bootstrap needs, which are also the names of their Deployments.
func Controllers() []string {
	return []string{"source-controller", "kustomize-controller", "helm-controller"}
}

// PullSecretName is the Secret with which Flux's own Pods pull their images, if a registry needs a login.
const PullSecretName = ReleaseName + "-flux-registry"

// Options specifies how Flux is rendered.
type Options struct {
	Archive         []byte // the release's manifests.tar.gz
	ImagePullSecret string // empty: none
	Environment     []EnvironmentVariable
	Restrictions
}

// Restrictions are features that Flux's controllers refuse to any Kustomization and HelmRelease in their cluster.
type Restrictions struct {
	// NoRemoteBases refuses kustomizations that fetch from outside of their source.
	NoRemoteBases bool
	// NoCrossNamespaceRefs refuses references to sources and to dependencies in other namespaces.
	NoCrossNamespaceRefs bool
}

// Render returns Flux's objects, tuned for a bootstrap. Controllers check dependencies again after two seconds instead
// of thirty, and reconcile more objects concurrently. The kubelet checks their readiness every second.
func Render(o Options) ([]*unstructured.Unstructured, error) {
	base, err := os.MkdirTemp("", "cluster-init-flux-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for Flux's manifests: %w", err)
	}
	defer os.RemoveAll(base)
	if err := tar.Untar(strings.NewReader(string(o.Archive)), base); err != nil {
		return nil, fmt.Errorf("unpacking Flux's manifests: %w", err)
	}
	options := install.MakeDefaultOptions()
	options.Version = Version
	options.Namespace = Namespace
	options.Components = Controllers()
	options.ComponentsExtra = nil
	options.ImagePullSecret = o.ImagePullSecret
	manifest, err := install.Generate(options, base)
	if err != nil {
		return nil, fmt.Errorf("rendering Flux %s: %w", Version, err)
	}
	objects, err := ssautil.ReadObjects(strings.NewReader(manifest.Content))
	if err != nil {
		return nil, fmt.Errorf("reading Flux's manifests: %w", err)
	}
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		if err := tune(object, o); err != nil {
			return nil, fmt.Errorf("tuning Flux's %s: %w", object.GetName(), err)
		}
	}
	if len(o.Environment) > 0 {
		objects = append(objects, secretOf(o.Environment))
	}
	return objects, nil
}

// Install applies Flux's objects, definitions first, and waits until the definitions are established. It does not
// wait for the controllers.
func Install(ctx context.Context, c *kube.Cluster, objects []*unstructured.Unstructured) error {
	poller := polling.NewStatusPoller(c.Client, c.RESTMapper(), polling.Options{})
	manager := ssa.NewResourceManager(c.Client, poller, ssa.Owner{Field: kube.FieldOwner, Group: "cluster-init.io"})
	options := ssa.DefaultApplyOptions()
	options.WaitInterval = 200 * time.Millisecond
	if err := applyEnvironment(ctx, c, manager, objects, options); err != nil {
		return fmt.Errorf("installing Flux in the %s cluster: %w", c.Name, err)
	}
	if _, err := manager.ApplyAllStaged(ctx, objects, options); err != nil {
		return fmt.Errorf("installing Flux in the %s cluster: %w", c.Name, err)
	}
	return nil
}

// featureGates are those of kustomize-controller. With the first one, it applies a correction at once while it waits
// for a component, not after half an hour. With the second one, a new API version of a CRD does not make the next apply
// fail with "field not declared in schema".
const featureGates = "CancelHealthCheckOnNewRevision=true,MigrateAPIVersion=true"

// concurrency returns how many objects a controller reconciles at once. kustomize-controller is busy with a
// Kustomization until everything in it is ready: with that of a workload cluster until its nodes are. If it could
// handle only a few at once, workload clusters that do not get ready would block those of the management cluster.
func concurrency(controller string) int {
	if controller == "kustomize-controller" {
		return 40
	}
	return 8
}

func tune(deployment *unstructured.Unstructured, o Options) error {
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		return fmt.Errorf("read its containers: %w", err)
	}
	if len(containers) == 0 {
		return errors.New("it has no containers")
	}
	container, ok := containers[0].(map[string]any)
	if !ok {
		return fmt.Errorf("its container is a %T", containers[0])
	}
	args, _, _ := unstructured.NestedStringSlice(container, "args")
	if deployment.GetName() != "source-controller" {
		args = append(args, "--requeue-dependency=2s")
		if o.NoCrossNamespaceRefs {
			args = append(args, "--no-cross-namespace-refs=true")
		}
	}
	if deployment.GetName() == "kustomize-controller" {
		args = append(args, "--feature-gates="+featureGates)
		if o.NoRemoteBases {
			args = append(args, "--no-remote-bases=true")
		}
	}
	args = append(args, "--concurrent="+strconv.Itoa(concurrency(deployment.GetName())))
	if err := unstructured.SetNestedStringSlice(container, args, "args"); err != nil {
		return err
	}
	env, _, _ := unstructured.NestedSlice(container, "env")
	env = append(env, references(o.Environment)...)
	if err := unstructured.SetNestedSlice(container, env, "env"); err != nil {
		return err
	}
	// A controller is ready some seconds after its start: the default 10 s between two probes is too long.
	if err := unstructured.SetNestedField(container, int64(1), "readinessProbe", "periodSeconds"); err != nil {
		return err
	}
	containers[0] = container
	return unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers")
}
