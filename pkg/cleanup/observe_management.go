package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// candidate is a kubeconfig that names the management cluster, and the result of its check.
type candidate struct {
	path       string
	kubeconfig []byte
	// proven reports whether the kubeconfig is certainly the cluster's. `up` saved it, or it is of the same cluster as
	// the one that `up` saved.
	proven bool
	side   managementSide
}

// seeManagement checks the management cluster by each kubeconfig that names it, in parallel.
func (o Observer) seeManagement(ctx context.Context, machines []string) managementSide {
	all := o.witnesses()
	if len(all) == 0 {
		return managementSide{state: managementAbsent, named: strings.Join(o.kubeconfigs(), ", ")}
	}
	var asking sync.WaitGroup
	for _, w := range all {
		if w.side.state == "" {
			asking.Go(func() { w.side = o.question(ctx, *w, machines) })
		}
	}
	asking.Wait()
	return merge(all)
}

// kubeconfigs returns the files that may name the management cluster. The last one is that of `up`.
func (o Observer) kubeconfigs() []string {
	kept := filepath.Join(o.StateFolder, "kubeconfig")
	if o.Kubeconfig == "" || o.Kubeconfig == kept {
		return []string{kept}
	}
	return []string{o.Kubeconfig, kept}
}

// witnesses returns the kubeconfigs that exist. One that cannot be read is already silent. An empty file names no
// cluster.
func (o Observer) witnesses() []*candidate {
	var all []*candidate
	var kept []byte
	for _, path := range o.kubeconfigs() {
		content, err := kube.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && fault.CodeOf(err) != fault.Usage, err == nil && content == nil:
			continue
		case err != nil:
			all = append(all, &candidate{path: path, side: managementSide{state: managementSilent, named: path,
				err: fmt.Errorf("read its kubeconfig: %w", err)}})
			continue
		}
		if path == filepath.Join(o.StateFolder, "kubeconfig") {
			kept = content
		}
		all = append(all, &candidate{path: path, kubeconfig: content})
	}
	for _, w := range all {
		w.proven = kube.SameCluster(w.kubeconfig, kept)
	}
	return all
}

// question checks whether one management cluster holds the Cluster.
func (o Observer) question(ctx context.Context, w candidate, machines []string) managementSide {
	c, err := o.reach(ctx, w.kubeconfig, machines)
	if err != nil {
		return managementSide{state: managementSilent, named: w.path, err: err}
	}
	side := managementSide{state: managementUnproven, named: w.path, host: c.Config.Host}
	// In any namespace: containers and files here are known only by the cluster's name.
	all, err := capi.Clusters(ctx, c, "")
	switch {
	case err != nil:
		return managementSide{state: managementSilent, named: w.path,
			err: fmt.Errorf("it answers at %s: %w", c.Config.Host, err)}
	case slices.ContainsFunc(all, func(c capi.Cluster) bool { return c.Name == o.Target.Cluster }):
		side.state = managementManaging
	case w.proven:
		side.state = managementEmpty
		for _, c := range all {
			side.others = append(side.others, c.String())
		}
	}
	return side
}

// reach connects to the cluster of a kubeconfig. If no API server answers there, it uses the port that the container of
// the load balancer publishes. That port changes when the container restarts.
func (o Observer) reach(ctx context.Context, kubeconfig []byte, machines []string) (*kube.Cluster, error) {
	c, err := connectManagement(ctx, kubeconfig)
	if _, answered := errors.AsType[*apierrors.StatusError](err); err == nil || answered {
		return c, err
	}
	balancer := o.Target.Cluster + "-lb"
	if !slices.Contains(machines, balancer) {
		return nil, err
	}
	container, inspectErr := o.Engine.Inspect(ctx, balancer)
	if inspectErr != nil {
		return nil, err
	}
	elsewhere, publishedErr := o.published(ctx, kubeconfig, container)
	if publishedErr != nil {
		return nil, err
	}
	c, elsewhereErr := connectManagement(ctx, elsewhere)
	if elsewhereErr != nil {
		return nil, fmt.Errorf("%w; by the port of its load balancer: %w", err, elsewhereErr)
	}
	return c, nil
}

func connectManagement(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	c, err := kube.Connect(managementName, kubeconfig, runtime.NewScheme())
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

// merge combines the results of all candidates. A cluster that manages itself comes first, then a silent one unless the
// same cluster answered by another kubeconfig. Clusters that do not hold the Cluster come last.
func merge(all []*candidate) managementSide {
	best := managementSide{}
	for _, state := range []managementState{managementManaging, managementSilent, managementEmpty, managementUnproven} {
		for _, w := range all {
			if w.side.state != state || state == managementSilent && answeredElse(*w, all) {
				continue
			}
			if best.state == "" {
				best = w.side
			} else if best.state == state && state == managementSilent {
				best.named, best.err = best.named+", "+w.side.named, fmt.Errorf("%w; %w", best.err, w.side.err)
			}
		}
	}
	return best
}

// answeredElse reports whether the cluster of a silent candidate answered by another kubeconfig.
func answeredElse(silent candidate, all []*candidate) bool {
	return slices.ContainsFunc(all, func(w *candidate) bool {
		return w.side.state == managementEmpty && kube.SameCluster(w.kubeconfig, silent.kubeconfig)
	})
}
