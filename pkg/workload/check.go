package workload

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// Check refuses a cluster that the management cluster cannot make, before anything is created. It reports all reasons
// at once.
func (c Cluster) Check(ctx context.Context, report pipeline.Reporter) error {
	_, err := c.check(ctx, report)
	return err
}

// check does what Check does. It returns the environment as it is applied.
func (c Cluster) check(ctx context.Context, report pipeline.Reporter) (*environment.Environment, error) {
	self, err := c.checkManagement(ctx)
	if err != nil {
		return nil, err
	}
	applied, changesErr := c.checkChanges(ctx, report)
	if changesErr == nil {
		applied, changesErr = provider.WithAddress(ctx, c.Provider, applied, report)
	}
	return applied, fault.Join(c.Environment.CheckKubernetesVersion(), c.checkName(ctx), c.checkFirst(ctx, report),
		c.checkProviders(ctx), c.checkControllers(ctx), c.checkNetworks(ctx, self, report), c.checkContent(ctx),
		changesErr)
}

// checkManagement refuses a management cluster that does not hold its own definition, or is not ready. It returns its
// Cluster. That is nil for an existing cluster that became a management cluster.
func (c Cluster) checkManagement(ctx context.Context) (*clusterv1.Cluster, error) {
	of, err := rollout.Installed(ctx, c.Management)
	if err != nil {
		return nil, err
	}
	if of == owned.SuspendedFor(c.Self.Namespace, c.Self.Name) {
		return nil, c.checkInstalled(ctx, of)
	}
	read, self := &unstructured.Unstructured{}, &clusterv1.Cluster{}
	read.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
	err = c.Management.Get(ctx, c.Self.object(), read)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(read.Object, self)
	}
	switch {
	case apierrors.IsNotFound(err), apimeta.IsNoMatchError(err):
		return nil, fault.New(fault.ClusterUnreachable, fmt.Sprintf("the management cluster does not hold its own "+
			"Cluster %s", c.Self), "Finish the management cluster first: cluster-init up ENVIRONMENT.")
	case err != nil:
		return nil, fmt.Errorf("read the management cluster's own Cluster %s: %w", c.Self, err)
	}
	_, paused := self.Annotations[clusterv1.PausedAnnotation]
	why := ""
	switch available := apimeta.FindStatusCondition(self.Status.Conditions, clusterv1.ClusterAvailableCondition); {
	case self.Annotations[owned.DownAnnotation] != "" || self.DeletionTimestamp != nil:
		why = "it is being taken down"
	case paused || self.Spec.Paused != nil && *self.Spec.Paused:
		why = "its Cluster is paused"
	case available == nil || available.Status != metav1.ConditionTrue:
		why = "its Cluster is not Available"
	}
	if why != "" {
		return nil, fault.Retryable(fmt.Errorf("the management cluster %s is not ready: %s", c.Self, why),
			fault.ClusterUnreachable,
			"Run the same command again when it is ready: see cluster-init status ENVIRONMENT.")
	}
	return self, nil
}

// checkInstalled refuses an existing cluster that uninstall has begun to remove the providers from.
func (c Cluster) checkInstalled(ctx context.Context, of string) error {
	leaves, err := rollout.Suspension{Cluster: c.Management, Of: of}.Stands(ctx)
	if err != nil || !leaves {
		return err
	}
	return fault.New(fault.ClusterUnreachable, fmt.Sprintf("the management cluster %s is being uninstalled", c.Self),
		"Finish cluster-init uninstall ENVIRONMENT --kubeconfig FILE, or run cluster-init install again to keep "+
			"the providers.")
}

// checkName refuses the name of a Cluster or of a HelmRelease that is not of `workload apply`.
func (c Cluster) checkName(ctx context.Context) error {
	key := c.Key()
	var release helmv2.HelmRelease
	err := c.Management.Get(ctx, key.object(), &release)
	switch {
	case err == nil && release.Labels[Label] == key.Name:
		return nil
	case err == nil:
		return fault.New(fault.ClusterForeign, fmt.Sprintf("the HelmRelease %s exists, but does not belong to "+
			"a workload cluster", key), "Give the workload cluster another --name or --namespace.")
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read the HelmRelease %s: %w", key, err)
	}
	cluster, err := clusters.Own(ctx, c.Management, clusters.Scope{Namespace: key.Namespace, Cluster: key.Name})
	if err != nil {
		return fmt.Errorf("read the Cluster %s: %w", key, err)
	}
	if cluster != nil {
		return fault.New(fault.ClusterForeign, fmt.Sprintf("the Cluster %s exists, but workload apply did not "+
			"create it", key), "Give the workload cluster another --name or --namespace.")
	}
	return nil
}

// checkForeign refuses objects that exist already and that `workload apply` did not make for this cluster, such as a
// Secret of the user's own.
func (c Cluster) checkForeign(ctx context.Context, objects []client.Object) error {
	var problems []error
	for _, o := range objects {
		if o.GetLabels()[Label] == "" { // the namespace, which may be anybody's
			continue
		}
		gvk, err := c.Management.GroupVersionKindFor(o)
		if err != nil {
			return fmt.Errorf("find the kind of %s: %w", o.GetName(), err)
		}
		existing := &metav1.PartialObjectMetadata{}
		existing.SetGroupVersionKind(gvk)
		err = c.Management.Get(ctx, client.ObjectKeyFromObject(o), existing)
		switch {
		case apierrors.IsNotFound(err), err == nil && existing.Labels[Label] == c.Key().Name:
		case err != nil:
			return fmt.Errorf("read %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(o), err)
		default:
			problems = append(problems, fault.New(fault.ClusterForeign,
				fmt.Sprintf("the %s %s exists, but does not belong to workload cluster %s", gvk.Kind,
					client.ObjectKeyFromObject(o), c.Key()),
				"Give the workload cluster another --name or --namespace."))
		}
	}
	return fault.Join(problems...)
}

// formatGate is the end of the variables with which a provider's component takes Ignition.
const formatGate = "BOOTSTRAP_FORMAT_IGNITION"

// checkProviders refuses a provider that the management cluster does not have, or that does not take the format of the
// machines' configuration.
func (c Cluster) checkProviders(ctx context.Context) error {
	list, err := flux.Kustomizations(ctx, c.Management)
	if err != nil {
		return err
	}
	installed := map[string]*kustomizev1.Kustomization{}
	for i := range list {
		own := client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName}
		if name := list[i].Labels[owned.ComponentLabel]; name != "" && rollout.Made(own, &list[i]) {
			installed[name] = &list[i]
		}
	}
	var problems []error
	for _, name := range c.Environment.Providers() {
		k, is := installed[name]
		switch {
		case !is:
			problems = append(problems, fault.New(fault.ComponentUnknown, fmt.Sprintf("the management cluster %s does "+
				"not have the component %s, which this cluster needs", c.Self, name),
				"Enable it in the management cluster: cluster-init up ENVIRONMENT --set components."+name+
					".enabled=true. If you built that with install, run install with this flag."))
		case !apimeta.IsStatusConditionTrue(k.Status.Conditions, meta.ReadyCondition):
			problems = append(problems, fault.Retryable(
				fmt.Errorf("the component %s of the management cluster %s is not ready", name, c.Self),
				fault.ComponentStuck, "Find the cause: cluster-init diagnose ENVIRONMENT."))
		case c.Environment.Spec().Cluster.BootstrapFormat == "ignition" && refusesIgnition(k):
			problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("cluster.bootstrap_format is "+
				"ignition, but the component %s of the management cluster %s does not accept it", name, c.Self),
				"Enable it in the management cluster: cluster-init up ENVIRONMENT --set "+
					"'cluster.bootstrap_formats={ignition}'."))
		}
	}
	return fault.Join(problems...)
}

func refusesIgnition(k *kustomizev1.Kustomization) bool {
	if k.Spec.PostBuild == nil {
		return false
	}
	for name, value := range k.Spec.PostBuild.Substitute {
		if strings.HasSuffix(name, formatGate) && value != "true" {
			return true
		}
	}
	return false
}

func overlap(a, b string) bool {
	one, err := netip.ParsePrefix(a)
	other, otherErr := netip.ParsePrefix(b)
	return err == nil && otherErr == nil && one.Overlaps(other)
}
