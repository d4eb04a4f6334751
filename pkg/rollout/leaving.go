package rollout

import (
	"maps"
	"slices"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// leaving are the Machines of a Cluster that were last seen as being deleted. Its methods may be called at the same
// time. A nil one knows none.
type leaving struct {
	of Key

	mu  sync.Mutex
	all map[string]bool
}

// see takes note of a change of a Machine.
func (l *leaving) see(c kube.Change) {
	if c.Object == nil || c.Object.GetKind() != "Machine" || !ofCluster(c.Object, l.of) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Deleted || c.Object.GetDeletionTimestamp() == nil {
		delete(l.all, c.Object.GetName())
		return
	}
	if l.all == nil {
		l.all = map[string]bool{}
	}
	l.all[c.Object.GetName()] = true
}

// names returns the names of the Machines, sorted.
func (l *leaving) names() []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.all))
}
