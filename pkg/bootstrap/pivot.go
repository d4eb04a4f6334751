package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

func (u *Up) side(c *kube.Cluster) pivot.Side {
	if c == nil {
		return pivot.Side{}
	}
	side := pivot.Side{Client: c.Client, Config: c.Config}
	switch {
	case c.Name == managementName:
		side.Kubeconfig = u.KubeconfigPath
	case u.BootstrapKubeconfig != "":
		side.Kubeconfig = u.BootstrapKubeconfig
	default:
		side.Kubeconfig = u.bootstrapKubeconfigPath()
	}
	return side
}

func (u *Up) scope() pivot.Scope {
	return pivot.Scope{Namespace: u.Environment.ClusterNamespace(), Cluster: u.Environment.ClusterName()}
}

// pivot moves the cluster definitions into the management cluster.
func (u *Up) pivot() pipeline.Phase {
	return pipeline.Phase{
		Name: "pivot", Title: "pivot", Needs: []string{"management-available"}, Timeout: 10 * time.Minute,
		Check: u.beforePivot("the management cluster holds its own definition"),
		Run:   u.runPivot,
	}
}

func (u *Up) runPivot(ctx context.Context, report pipeline.Reporter) error {
	if err := u.keepBootstrapKubeconfig(u.found.bootstrap); err != nil {
		return err
	}
	result, err := pivot.Run(ctx, pivot.Input{
		Source: u.side(u.found.bootstrap), Target: u.side(u.found.management), Scope: u.scope(),
		BackupDir: u.StateFolder, Flux: suspender{u.found.bootstrap, u.scope()}, Move: capi.Move, Now: u.Now, Log: report.Log,
	})
	if err != nil {
		return err
	}
	report.Progress("moved %d objects; their backup is in %s", len(result.Moved), result.Backup)
	return nil
}

// suspender suspends what would put back, in the bootstrap cluster, what the move takes away.
type suspender struct {
	cluster *kube.Cluster
	scope   pivot.Scope
}

func suspendedFor(scope pivot.Scope) string {
	return owned.SuspendedFor(scope.Namespace, scope.Cluster)
}

// Suspend suspends the HelmRelease first, which would undo the rest, then the Kustomizations.
func (s suspender) Suspend(ctx context.Context) error {
	if err := flux.SetSuspended(ctx, s.cluster, s.release(), true); err != nil {
		return err
	}
	list, err := flux.Kustomizations(ctx, s.cluster)
	if err != nil {
		return err
	}
	for i := range list {
		k := &list[i]
		if k.Spec.Suspend || k.Name != "cluster" && k.Spec.KubeConfig == nil {
			continue
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}},"spec":{"suspend":true}}`, owned.SuspendedAnnotation, suspendedFor(s.scope))
		if err := s.cluster.Patch(ctx, k, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			return fmt.Errorf("suspending Kustomization %s/%s in the bootstrap cluster: %w", k.Namespace, k.Name, err)
		}
	}
	return nil
}

// suspendedForPivot says whether a pivot has suspended what would put back what it takes away; false where Flux is not installed yet.
func suspendedForPivot(ctx context.Context, c *kube.Cluster, scope pivot.Scope) (bool, error) {
	return flux.SuspendedWith(ctx, c, owned.SuspendedAnnotation, suspendedFor(scope))
}

// isSuspendedFor says whether it was this pivot that suspended a Kustomization.
func isSuspendedFor(scope pivot.Scope, k kustomizev1.Kustomization) bool {
	return k.Spec.Suspend && k.Annotations[owned.SuspendedAnnotation] == suspendedFor(scope)
}

// Resume takes Suspend back.
func (s suspender) Resume(ctx context.Context) error { return resumeAll(ctx, s.cluster, s.scope) }

func (s suspender) release() client.Object {
	return &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: flux.ReleaseName, Namespace: flux.Namespace}}
}

// selfManagement proves, from the management cluster's own API, that it manages itself.
func (u *Up) selfManagement() pipeline.Phase {
	return pipeline.Phase{
		Name: "self-management", Title: "management cluster manages itself", Needs: []string{"definition"}, Timeout: u.Timeout,
		Run: u.awaitSelfManagement,
	}
}

// awaitSelfManagement looks once a second: what counts is one consistent look at all of it, not a series of events.
func (u *Up) awaitSelfManagement(ctx context.Context, report pipeline.Reporter) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan error, 1)
	go func() { gone <- follower{cluster: u.found.management, silence: maxSilence}.listen(ctx) }()
	defer func() { cancel(); <-gone }()
	ended, said := gone, u.Now()
	for {
		unmet, err := u.selfManaged(ctx)
		if err == nil && len(unmet) == 0 {
			report.Progress("Cluster and control plane are Available, machines and nodes Ready, all Kustomizations Ready")
			return nil
		}
		if u.Now().Sub(said) >= u.Heartbeat {
			said = u.Now()
			report.Waiting("the management cluster to manage itself: "+errors.Join(err, unmetError(unmet)).Error(), nil)
		}
		select {
		case err := <-ended:
			gone <- nil
			if err != nil {
				return err
			}
			ended = nil // it ends well only with ctx
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("the management cluster does not manage itself: %w", errors.Join(err, unmetError(unmet), ctx.Err())),
				fault.ComponentStuck, "The bootstrap cluster is kept. Run the same command again to go on.")
		case <-tick.C:
		}
	}
}

// selfManaged gives one look a bound: an API server that hangs must not hold up the look at whether it is gone.
func (u *Up) selfManaged(ctx context.Context) ([]pivot.Unmet, error) {
	ctx, cancel := context.WithTimeout(ctx, maxSilence/3)
	defer cancel()
	return pivot.SelfManaged(ctx, u.found.management, u.scope(), nil)
}

func unmetError(unmet []pivot.Unmet) error {
	var errs []error
	for _, u := range unmet {
		errs = append(errs, errors.New(u.String()))
	}
	return errors.Join(errs...)
}

// bootstrapRemoval deletes the bootstrap cluster; nothing of the management cluster depends on it any more.
func (u *Up) bootstrapRemoval() pipeline.Phase {
	return pipeline.Phase{
		Name: "bootstrap-removal", Title: "delete the bootstrap cluster", Needs: []string{"self-management"}, Timeout: 5 * time.Minute,
		Check: func(ctx context.Context) (pipeline.Status, error) {
			if u.KeepBootstrap || u.BootstrapKubeconfig != "" {
				return u.done("kept, as asked")
			}
			exists, err := u.bootstrapExists(ctx)
			if err != nil || exists {
				return pipeline.Status{}, err
			}
			return u.done("it is gone")
		},
		Run: u.removeBootstrap,
	}
}

// removeBootstrap looks again right before: what the bootstrap cluster still holds goes with it.
func (u *Up) removeBootstrap(ctx context.Context, _ pipeline.Reporter) error {
	o, err := u.confirm(ctx, pivoted)
	if err != nil {
		return err
	}
	if c := o.bootstrap.cluster; c != nil {
		clusters, err := capi.Clusters(ctx, c, "")
		if err != nil {
			return fmt.Errorf("list the Clusters that the bootstrap cluster still holds: %w", err)
		}
		if stay := othersThan(u.scope(), clusters); len(stay) > 0 {
			return fault.New(fault.PivotRefused, fmt.Sprintf("the bootstrap cluster is kept, as it holds more than %s: %s", u.Environment.ClusterName(), strings.Join(stay, ", ")),
				"Move them to where they are to be managed (clusterctl move), or delete them, and run the same command again; or add --keep-bootstrap.")
		}
	}
	if err := u.Kind.Delete(ctx, u.BootstrapName()); err != nil {
		return err
	}
	if err := os.Remove(u.bootstrapKubeconfigPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the bootstrap cluster's kubeconfig: %w", err)
	}
	return nil
}

// othersThan names the Clusters that are not what our own pivot leaves paused behind.
func othersThan(ours pivot.Scope, clusters []capi.Cluster) []string {
	var names []string
	for _, c := range clusters {
		if c.Namespace != ours.Namespace || c.Name != ours.Cluster || !c.Paused {
			names = append(names, c.String())
		}
	}
	return names
}
