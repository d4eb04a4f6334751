package rollout

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// joined knows which Machines of a Cluster were last seen with a Node and not as being deleted. The API server of any
// other one does not answer, or soon will not. Its methods may be called at the same time. A nil one has seen none.
type joined struct {
	of Key

	mu   sync.Mutex
	seen map[string]bool // whether each Machine has joined and stays
}

// see takes note of a change of a Machine.
func (j *joined) see(c kube.Change) {
	if c.Object == nil || c.Object.GetKind() != "Machine" || !ofCluster(c.Object, j.of) {
		return
	}
	node, _, _ := unstructured.NestedString(c.Object.Object, "status", "nodeRef", "name")
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.seen == nil {
		j.seen = map[string]bool{}
	}
	j.seen[c.Object.GetName()] = node != "" && !c.Deleted && c.Object.GetDeletionTimestamp() == nil
}

// names returns the names of the Machines. Nil means that no Machine was seen.
func (j *joined) names() []string {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.seen == nil {
		return nil
	}
	names := []string{}
	for name, is := range j.seen {
		if is {
			names = append(names, name)
		}
	}
	return names
}
