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

// candidate is a kubeconfig that names the management cluster, and what that answered.
type candidate struct {
	path       string
	kubeconfig []byte
	// proven is whether it is the cluster's for sure: `up` kept it, or it is of the same cluster as the one that `up`
	// kept.
	proven bool
	side   managementSide
}

// seeManagement asks the management cluster by each kubeconfig that names it, at the same time.
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

// kubeconfigs are the files that may name the management cluster; the last one is that of `up`.
func (o Observer) kubeconfigs() []string {
	kept := filepath.Join(o.StateFolder, "kubeconfig")
	if o.Kubeconfig == "" || o.Kubeconfig == kept {
		return []string{kept}
	}
	return []string{o.Kubeconfig, kept}
}

// witnesses are the kubeconfigs that there are; one that cannot be read is silent already. An empty file names nobody.
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

// question asks one management cluster whether it holds the Cluster.
func (o Observer) question(ctx context.Context, w candidate, machines []string) managementSide {
	c, err := o.reach(ctx, w.kubeconfig, machines)
	if err != nil {
		return managementSide{state: managementSilent, named: w.path, err: err}
	}
	side := managementSide{state: managementUnproven, named: w.path, host: c.Config.Host}
	// in any namespace: containers and files here are known by the cluster's name only
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

// reach connects to the cluster of a kubeconfig: as it is, and where nobody answers there through the port that its
// load balancer's container publishes, which changes with that container's start.
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

// merge makes one answer of all: who manages itself counts most; then who is silent, unless the same cluster answered
// by another kubeconfig; then who does not hold the Cluster.
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

// answeredElse says whether the cluster of a silent candidate answered by another kubeconfig.
func answeredElse(silent candidate, all []*candidate) bool {
	return slices.ContainsFunc(all, func(w *candidate) bool {
		return w.side.state == managementEmpty && kube.SameCluster(w.kubeconfig, silent.kubeconfig)
	})
}
