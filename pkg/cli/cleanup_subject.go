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

// subject is the cluster to clean up.
type subject struct {
	name   string // as the user gave it
	target cleanup.Target
	state  string             // folder of the cluster on this machine
	cloud  provider.Leftovers // nil if its machines are not in a supported cloud
}

// subject resolves the given environment or cluster, and connects to its cloud.
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

// clusterSubject resolves a cluster given without its environment: in Docker, and in the cloud if credentials are set.
func (o *cleanupOptions) clusterSubject(ctx context.Context) (subject, error) {
	// the name becomes that of a folder that is deleted
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
	if cloud == nil { // resources there are not known: keep the files that cleaning them up may need
		s.target.Files = nil
		s.target.Elsewhere = cleanup.Elsewhere{Place: known.CloudPlace,
			Reason: "no cloud was checked: credentials are missing; the files of the cluster are kept until then",
			Hint:   "Set the credentials of its cloud, or name its environment in place of --cluster."}
	}
	return s, err
}

// withFiles adds the cluster's files on this machine.
func (o *cleanupOptions) withFiles(s subject) (subject, error) {
	state, err := stateFolder(s.target.Cluster)
	s.target.Files, s.state = []string{state}, state
	return s, err
}
