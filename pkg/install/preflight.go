package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/registry"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// preflight refuses what would make the run fail later, before anything is created. It reports all problems at once.
func (r *Run) preflight(ctx context.Context, report pipeline.Reporter) error {
	machine := bootstrap.Preflight{Wanted: r.wanted(), World: r.world}.Run(ctx, report)
	cluster, err := r.world.ConnectExisting(ctx)
	if err != nil {
		return fault.Join(machine, err)
	}
	r.cluster = cluster
	if r.id, err = identify(ctx, cluster); err != nil {
		return fault.Join(machine, err)
	}
	return fault.Join(machine, r.checkRights(ctx), r.checkVersion(ctx, report), r.checkOwner(ctx), r.checkForeign(ctx),
		r.checkAdopted(ctx, report), r.checkNodes(ctx, report))
}

// identify returns the value of owned.ServesLabel for a cluster: it has it for as long as it exists.
func identify(ctx context.Context, c *kube.Cluster) (string, error) {
	namespace := &corev1.Namespace{}
	if err := c.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return "", fmt.Errorf("read the namespace %s of the existing cluster: %w", metav1.NamespaceSystem, err)
	}
	return string(namespace.UID), nil
}

// checkRights refuses a user who may not do everything: components bring roles of their own.
func (r *Run) checkRights(ctx context.Context) error {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "*", Group: "*", Resource: "*"}}}
	if err := r.cluster.Create(ctx, review); err != nil {
		return fmt.Errorf("check the permissions of the user of %s: %w", r.KubeconfigPath, err)
	}
	if review.Status.Allowed {
		return nil
	}
	return fault.New(fault.KubeconfigRefused, fmt.Sprintf("the user of %s is not an administrator of the cluster",
		r.KubeconfigPath), "Give a kubeconfig of a user with the ClusterRole cluster-admin.")
}

func (r *Run) checkVersion(ctx context.Context, report pipeline.Reporter) error {
	version, err := r.cluster.Version(ctx)
	if err != nil {
		return err
	}
	report.Progress("the cluster at %s runs Kubernetes %s", r.cluster.Config.Host, version)
	return environment.CheckServerVersion(version)
}

// checkNodes refuses nodes that do not reach the registry of this run, or lack the socket that Cluster API's provider
// for Docker needs.
func (r *Run) checkNodes(ctx context.Context, report pipeline.Reporter) error {
	inRegistry := r.Source.Kind == source.Embedded || r.Bundle != nil
	needsSocket := r.world.Provider.ReachesEngine() && !r.hasEngineAddress()
	if !inRegistry && !needsSocket {
		return nil
	}
	var nodes corev1.NodeList
	if err := r.cluster.List(ctx, &nodes); err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	var problems []error
	unknown := false
	for _, node := range nodes.Items {
		container, here, err := r.containerOf(ctx, node)
		switch {
		case err != nil:
			return err
		case !here:
			unknown = true
		case needsSocket && !container.HasMount(dockerSocket):
			problems = append(problems, fault.New(fault.ClusterFailed, fmt.Sprintf("node %s has no %s: Cluster API's "+
				"provider for Docker needs it", node.Name, dockerSocket),
				"Recreate the nodes with this mount (kind: extraMounts)."))
		}
	}
	if unknown && needsSocket {
		report.Warn("not checked: whether each node has %s, with which Cluster API's provider for Docker makes "+
			"machines",
			dockerSocket)
	}
	if unknown && inRegistry {
		problems = append(problems, fault.New(fault.SourceUnreadable,
			"the nodes of the cluster are not containers in the "+
				"network "+registry.DefaultNetwork+" of this Docker engine, and would not reach the registry with the "+
				"content "+
				"of this program", "Use --source git, or cluster-init publish and --source oci."))
	}
	return fault.Join(problems...)
}

// dockerSocket is where the component capd mounts the socket from.
const dockerSocket = "/var/run/docker.sock"

// hasEngineAddress reports whether the provider is given an address of the engine, in place of the socket.
func (r *Run) hasEngineAddress() bool {
	components, _ := r.Environment.Values(environment.Management)["components"].(map[string]any)
	own, _ := components[r.Environment.InfraProvider()].(map[string]any)
	substitute, _ := own["substitute"].(map[string]any)
	for name, value := range substitute {
		if strings.HasSuffix(name, "DOCKER_HOST") && value != "" {
			return true
		}
	}
	return false
}

// containerOf returns the container that a node is on this Docker engine. here is false if it is none.
func (r *Run) containerOf(ctx context.Context, node corev1.Node) (c docker.Container, here bool, err error) {
	if r.world.Docker.NotNeeded || !strings.HasPrefix(node.Spec.ProviderID, "kind://") {
		return docker.Container{}, false, nil
	}
	c, err = r.world.Docker.Inspect(ctx, node.Name)
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return c, false, nil
	case err != nil:
		return c, false, err
	}
	endpoint, connected := c.Networks[registry.DefaultNetwork]
	for _, address := range node.Status.Addresses {
		if connected && (address.Address == endpoint.IPv4 || address.Address == endpoint.IPv6) {
			return c, true, nil
		}
	}
	return c, false, nil
}
