package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

func newWorkload(streams Streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "workload",
		Short:   "Make the clusters that a management cluster is for",
		Example: "  cluster-init workload apply kubeadm-capd --in kubeadm-capd --name shop --namespace team-a",
		RunE:    onlyCommands,
	}
	c.AddCommand(newWorkloadApply(streams), newWorkloadRender(streams), newWorkloadList(streams),
		newWorkloadStatus(streams), newWorkloadDiagnose(streams), newWorkloadDelete(streams))
	return c
}

// managedBy are the flags that name the management cluster of a workload cluster.
type managedBy struct {
	in string
	// name and namespace are those of the management cluster, if `up` had others than its environment.
	name, namespace string
	clusters        pivotClusters
	known           *secrecy
	given           *pflag.FlagSet
}

func (m *managedBy) flags(f *pflag.FlagSet, streams Streams) {
	m.known, m.given = streams.known, f
	f.StringVar(&m.in, "in", "", "environment of the management cluster (required)")
	f.StringVar(&m.name, "in-name", "", "name of the management cluster (default: cluster.name of its environment)")
	f.StringVar(&m.namespace, "in-namespace", "", "namespace of its Cluster (default: cluster.namespace of its "+
		"environment)")
	m.clusters.flags(f)
}

// find checks all input, and returns the management cluster.
func (m *managedBy) find(ctx context.Context) (*viewed, error) {
	if m.in == "" {
		return nil, fault.New(fault.Usage, "--in is missing",
			"Name the environment of the management cluster: --in ENVIRONMENT.")
	}
	looking, _, err := lookingAt(ctx, m.in, &environmentOptions{known: m.known, given: m.given,
		sets: namesAsSets(m.name, m.namespace)}, &m.clusters)
	return looking, err
}

// connect returns a connection to the management cluster that works from here.
func (m *managedBy) connect(ctx context.Context, looking *viewed) (*kube.Cluster, error) {
	management, err := looking.Access(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the management cluster of %s: %w", m.in, err)
	}
	return management, nil
}

// listed returns the state of a workload cluster. It fails with fault.StatusAbsent if there is none of that name.
func (m *managedBy) listed(ctx context.Context, looking *viewed, management *kube.Cluster, key workload.Key) (
	workload.Listed, error) {
	all, err := workload.List(ctx, management, workload.Key{Namespace: looking.Namespace, Name: looking.Cluster})
	if err != nil {
		return workload.Listed{}, fmt.Errorf("read workload cluster %s: %w", key, err)
	}
	for _, l := range all {
		if l.Namespace == key.Namespace && l.Name == key.Name {
			return l, nil
		}
	}
	return workload.Listed{}, fault.New(fault.StatusAbsent, "workload cluster "+key.String()+" does not exist",
		"List the workload clusters: cluster-init workload list --in "+m.in+".")
}

// leasedBy returns a World of the workload cluster, which takes leases by its name, and the folder of its lock here.
func leasedBy(looking *viewed, key workload.Key) (world *clusters.World, folder string) {
	subject := looking.Subject
	subject.Namespace, subject.Cluster = key.Namespace, key.Name
	// A folder, and so a holder of leases, for each cluster: two runs on one machine are two holders.
	subject.StateFolder = filepath.Join(looking.StateFolder, "workload-"+key.Namespace+"-"+key.Name)
	return clusters.New(subject, looking.Parts), subject.StateFolder
}

// workloadKey reads NAMESPACE/NAME.
func workloadKey(name string) (workload.Key, error) {
	namespace, cluster, both := strings.Cut(name, "/")
	if !both || namespace == "" || cluster == "" || strings.Contains(cluster, "/") {
		return workload.Key{}, fault.New(fault.Usage, name+" is not NAMESPACE/NAME", "Write it as team-a/shop.")
	}
	return workload.Key{Namespace: namespace, Name: cluster}, nil
}

// namesAsSets are the values that flags for a name and a namespace stand for.
func namesAsSets(name, namespace string) []string {
	var sets []string
	for key, value := range map[string]string{"cluster.name": name, "cluster.namespace": namespace} {
		if value != "" {
			sets = append(sets, key+"="+value)
		}
	}
	return sets
}

// differs refuses a workload environment that has the names of the management cluster.
func differs(env *environment.Environment, management clusters.Identity) error {
	if env.ClusterName() != management.Cluster || env.ClusterNamespace() != management.Namespace {
		return nil
	}
	return fault.New(fault.Usage,
		fmt.Sprintf("%s/%s is the management cluster", management.Namespace, management.Cluster),
		"Give the workload cluster other names: --name NAME --namespace NAMESPACE.")
}
