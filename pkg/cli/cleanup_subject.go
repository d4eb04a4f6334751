package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
)

// subject is what is to be cleaned up.
type subject struct {
	name   string // as the user called it
	target cleanup.Target
	state  string             // folder of the cluster on this machine
	cloud  provider.Leftovers // nil: its machines are not in a cloud that can be cleaned
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
		return subject{}, fault.New(fault.Usage, fmt.Sprintf("--cluster %q is no namespace and name", o.cluster),
			"Give --cluster NAMESPACE/NAME.")
	}
	cloud, err := known.Cloud(ctx, os.LookupEnv, namespace, cluster)
	if err != nil {
		return subject{}, err
	}
	s, err := o.withFiles(subject{name: o.cluster, cloud: cloud, target: cleanup.Target{Namespace: namespace,
		Cluster: cluster}})
	if cloud == nil { // nobody knows what is there: what may be needed to clean that up stays
		s.target.Files = nil
		s.target.Elsewhere = cleanup.Elsewhere{Place: known.CloudPlace,
			Why:  "no cloud was asked: there are no credentials; the files of the cluster stay until one is",
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
