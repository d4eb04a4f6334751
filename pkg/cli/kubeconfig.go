package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// kubeconfigOptions are the flags of `kubeconfig`.
type kubeconfigOptions struct {
	environmentOptions
	clusters pivotClusters
	merge    bool
	workload string
	recover  bool
	streams  Streams
}

func newKubeconfig(streams Streams) *cobra.Command {
	o := &kubeconfigOptions{streams: streams}
	c := &cobra.Command{
		Use:   "kubeconfig ENVIRONMENT",
		Short: "Print the kubeconfig of a management cluster, or of a cluster that it manages",
		Long: `kubeconfig finds the management cluster as up does, verifies its identity and that it answers, and
prints its kubeconfig.

With --merge it writes the kubeconfig into the file that kubectl uses (KUBECONFIG, or
~/.kube/config). The current context is then the new one, named after the cluster. An entry of
another cluster with this name is not overwritten.

With --workload it takes the kubeconfig of a cluster that the management cluster manages.

With --recover it reads the kubeconfig from a control-plane machine: use it when the file is lost
or its client certificate has expired. The kubeconfig is saved where up keeps it, but only when it
is proven to belong to this cluster. Machines in Docker can be read. For other machines, the error
explains how to read it yourself.`,
		Example: `  cluster-init kubeconfig kubeadm-capd >mgmt.kubeconfig
  cluster-init kubeconfig kubeadm-capd --merge
  cluster-init kubeconfig kubeadm-capd --workload team-a/shop --merge
  cluster-init kubeconfig kubeadm-capd --recover`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.clusters.flags(f)
	f.BoolVar(&o.merge, "merge", false, "write it into the file that kubectl uses, as the current context")
	f.BoolVar(&o.recover, "recover", false, "read it from a control-plane machine, and save it")
	f.StringVar(&o.workload, "workload", "", "[NAMESPACE/]NAME of a cluster that the management cluster manages")
	return c
}

func (o *kubeconfigOptions) run(ctx context.Context, name string) error {
	if o.recover && o.workload != "" {
		return fault.New(fault.Usage, "--recover and --workload are given together",
			"Recover the kubeconfig of the management cluster first, then ask for that of the workload cluster.")
	}
	looking, _, err := lookingAt(ctx, name, &o.environmentOptions, &o.clusters)
	if err != nil {
		return err
	}
	management, err := o.find(ctx, looking)
	if err != nil {
		return err
	}
	kubeconfig, called := management.Kubeconfig, looking.Cluster
	if o.workload != "" {
		if kubeconfig, err = clusters.WorkloadAccess(ctx, management, o.workload); err != nil {
			return err
		}
		called = o.workload
	}
	if !o.merge && !o.recover {
		_, err = o.streams.Out.Write(kubeconfig)
		return err
	}
	if !o.merge {
		return nil
	}
	file, err := kube.Merge(kubeconfig, called)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.streams.Err, "%s: the current context is now %s\n", file, called)
	return err
}

// find connects to the management cluster. With --recover it reads and saves the kubeconfig from a machine.
func (o *kubeconfigOptions) find(ctx context.Context, looking *viewed) (*kube.Cluster, error) {
	if !o.recover {
		return looking.Access(ctx)
	}
	management, files, err := looking.Recover(ctx)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(o.streams.Err, "recovered the kubeconfig of %s: %s\n", looking.Cluster,
		strings.Join(files, ", "))
	return management, err
}

// lookingAt checks all input of a read-only command and returns the world of the environment. It needs only the names
// in the environment. lacks says why the rest is not known, for example without the credentials of the cloud.
func lookingAt(ctx context.Context, name string, of *environmentOptions, by *pivotClusters) (looking *viewed,
	lacks error, err error) {
	env, lacks, err := of.loadToLook(ctx, name)
	if err := fault.Join(err, by.checkToLook()); err != nil {
		return nil, nil, err
	}
	subject, err := by.subject(env)
	if err != nil {
		return nil, nil, err
	}
	engine := &docker.Client{}
	makes, err := known.Of(env, engine)
	if err != nil {
		return nil, nil, err
	}
	world := clusters.New(subject, clusters.Parts{Docker: engine, Provider: makes, Now: time.Now,
		Kind: kind.New(func(string) {})})
	return &viewed{World: world, environment: env}, lacks, nil
}

// viewed is an environment and its clusters, for a command that changes nothing in them.
type viewed struct {
	*clusters.World
	environment *environment.Environment
}

// use replaces the environment by the same one with other values, for comparisons and for masking secrets.
func (v *viewed) use(env *environment.Environment) {
	v.environment, v.Identity = env, clusters.IdentityOf(env)
}

// up returns a run of `up` that only observes.
func (v *viewed) up() *up.Run {
	return up.New(up.Options{Subject: v.Subject, Environment: v.environment}, v.Parts)
}
