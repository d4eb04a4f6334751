package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/credentials"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// subject is what is to be cleaned up.
type subject struct {
	name   string // as the user called it
	target cleanup.Target
	state  string            // folder of the cluster on this machine
	cloud  *openstack.Client // nil: its machines are not in a cloud that can be cleaned
	router string            // of the user's own, in that cloud, that the cluster's subnet was put on
}

// leftovers is what the cluster has left in the cloud, as an interface that is nil without one.
func (s subject) leftovers() provider.Leftovers {
	if s.cloud == nil {
		return nil
	}
	return leftovers.Project{Cloud: inventory.Project{Client: s.cloud}, Cluster: leftovers.Cluster{Namespace: s.target.Namespace, Name: s.target.Cluster, Router: s.router}}
}

// subject finds out what the user means, and connects to its cloud.
func (o *cleanupOptions) subject(ctx context.Context, name string) (subject, error) {
	if o.cluster != "" {
		return o.clusterSubject(ctx)
	}
	env, err := o.loadNames(ctx, name)
	if err != nil {
		return subject{}, err
	}
	s := subject{name: name, target: cleanup.Target{Namespace: env.ClusterNamespace(), Cluster: env.ClusterName()}}
	if err := s.lookInto(ctx, env); err != nil {
		return subject{}, err
	}
	return o.withFiles(s)
}

// clusterSubject is a cluster that the user names without its environment: in docker, and in the cloud if there is one.
func (o *cleanupOptions) clusterSubject(ctx context.Context) (subject, error) {
	// The name becomes one of a folder that is deleted.
	namespace, cluster, _ := strings.Cut(o.cluster, "/")
	if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Label(cluster)) > 0 {
		return subject{}, fault.New(fault.Usage, fmt.Sprintf("--cluster %q is no namespace and name", o.cluster), "Give --cluster NAMESPACE/NAME.")
	}
	cloud, err := cloudIfAny(ctx)
	if err != nil {
		return subject{}, err
	}
	s, err := o.withFiles(subject{name: o.cluster, cloud: cloud, target: cleanup.Target{Namespace: namespace, Cluster: cluster}})
	if cloud == nil { // nobody knows what is there: what may be needed to clean that up stays
		s.target.Files = nil
		s.target.Elsewhere = cleanup.Elsewhere{Place: "OpenStack", Why: "no cloud was asked: there are no credentials; the files of the cluster stay until one is",
			Hint: "Set the credentials of its cloud, or name its environment in place of --cluster."}
	}
	return s, err
}

// withFiles adds what the cluster has on this machine.
func (o *cleanupOptions) withFiles(s subject) (subject, error) {
	state, err := stateFolder(s.target.Cluster)
	s.target.Files, s.state = []string{state}, state
	return s, err
}

// cloudIfAny logs in to the cloud that the shell names; without credentials there is no cloud.
func cloudIfAny(ctx context.Context) (*openstack.Client, error) {
	cloud, err := credentials.Find(os.LookupEnv)
	if fault.CodeOf(err) == fault.CredentialsMissing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return openstack.Connect(ctx, cloud)
}
