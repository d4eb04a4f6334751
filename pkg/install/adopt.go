package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// certManager is the one component of which `install` can use that of another owner.
const certManager = "cert-manager"

// AdoptedValues returns the values, as of --set, of a release that uses these components of other owners. It refuses
// all but cert-manager: the providers of Cluster API have to fit each other, and have feature gates and labels of a
// release.
func AdoptedValues(env *environment.Environment, components []string) ([]string, error) {
	var sets []string
	var problems []error
	for _, name := range components {
		if name != certManager {
			problems = append(problems, fault.New(fault.Usage, "--adopt "+name+": install can use only the "+
				"cert-manager "+
				"of another owner", "Remove "+name+" with the tool that installed it, or use another cluster. "+
				"The versions, feature gates and labels of Flux and of Cluster API's providers must be those of the "+
				"release."))
			continue
		}
		without, err := independentOf(env, name)
		problems = append(problems, err)
		sets = append(sets, "components."+name+".enabled=false")
		sets = append(sets, without...)
	}
	return sets, fault.Join(problems...)
}

// independentOf returns the values with which no component waits for one that is not enabled.
func independentOf(env *environment.Environment, name string) ([]string, error) {
	components, _ := env.Values(environment.Management)["components"].(map[string]any)
	var sets []string
	for _, each := range slices.Sorted(maps.Keys(components)) {
		fields, _ := components[each].(map[string]any)
		list, _ := fields["dependsOn"].([]any)
		if !slices.Contains(list, any(name)) {
			continue
		}
		var others []string
		for _, on := range list {
			text, _ := on.(string)
			if strings.ContainsAny(text, "{,") {
				return nil, fault.New(fault.ValuesInvalid, fmt.Sprintf("--adopt %s: components.%s.dependsOn has the "+
					"template %s", name, each, text), "Write the names of the components into that list.")
			}
			if text != name {
				others = append(others, text)
			}
		}
		sets = append(sets, fmt.Sprintf("components.%s.dependsOn={%s}", each, strings.Join(others, ",")))
	}
	return sets, nil
}

// checkAdopted refuses, for a release without cert-manager, a cluster whose own one does not work, or lacks the
// version of the API that the providers use.
func (r *Run) checkAdopted(ctx context.Context, report pipeline.Reporter) error {
	components, err := r.Environment.Components(environment.Management)
	if err != nil || slices.ContainsFunc(components, func(c environment.Component) bool {
		return c.Name == certManager
	}) {
		return err
	}
	for _, name := range []string{"certificates", "issuers"} {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(crdKind())
		crd.SetName(name + ".cert-manager.io")
		exists, err := r.cluster.Exists(ctx, crd)
		switch {
		case err != nil:
			return err
		case !exists:
			return fault.New(fault.ComponentUnknown, "component cert-manager is not enabled, and the cluster has no "+
				"cert-manager",
				"Leave --adopt out, or enable the component: install brings cert-manager.")
		case !serves(crd, "v1"):
			return fault.New(fault.ClusterForeign, "the cert-manager of the cluster does not serve "+
				"cert-manager.io/v1, which the providers of Cluster API use", "Upgrade it to version 1.0 or later.")
		}
	}
	return r.checkCertManager(ctx, report)
}

// checkCertManager refuses a cert-manager whose controllers do not run, or whose webhook does not answer.
func (r *Run) checkCertManager(ctx context.Context, report pipeline.Reporter) error {
	var found appsv1.DeploymentList
	err := r.cluster.List(ctx, &found, client.MatchingLabels{"app.kubernetes.io/name": certManager,
		"app.kubernetes.io/component": "controller"})
	if err != nil {
		return fmt.Errorf("list the Deployments of cert-manager: %w", err)
	}
	const hint = "Repair it with the tool that installed it, and run the same command again."
	version, running := "", false
	for _, d := range found.Items {
		if d.Status.AvailableReplicas > 0 {
			version, running = d.Labels["app.kubernetes.io/version"], true
		}
	}
	if !running {
		return fault.Retryable(errors.New("cert-manager is not available: no available Deployment has the labels "+
			"app.kubernetes.io/name=cert-manager and app.kubernetes.io/component=controller"),
			fault.ComponentStuck, hint)
	}
	issuer := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cert-manager.io/v1", "kind": "Issuer",
		"metadata": map[string]any{"name": "cluster-init-check", "namespace": "default"},
		"spec":     map[string]any{"selfSigned": map[string]any{}}}}
	if err := r.cluster.Create(ctx, issuer, client.DryRunAll); err != nil {
		return fault.Retryable(fmt.Errorf("the cert-manager of the cluster refuses an Issuer, in a dry run: %w", err),
			fault.ComponentStuck, hint)
	}
	report.Progress("using the cert-manager %s of the cluster", version)
	return nil
}

// serves reports whether a definition serves a version.
func serves(crd *unstructured.Unstructured, version string) bool {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, each := range versions {
		v, _ := each.(map[string]any)
		if v["name"] == version && v["served"] == true {
			return true
		}
	}
	return false
}
