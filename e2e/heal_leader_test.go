//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"
)

// nameBound is how long diagnose may take until it names what is not replaced.
const nameBound = 10 * time.Second

// namesLeader breaks the machine of etcd's leader, which keeps leading. Cluster API reaches that etcd only through the
// machine's kubelet, and does not replace the machine. diagnose must name it in time. Then the test stops the machine,
// and Cluster API must replace it.
func (l lab) namesLeader(t *testing.T, c cluster, machine string, fault, stop func(machine string)) {
	t.Helper()
	replaced := c.fails(t, machine, fault)
	named, took := "Machine "+machine+" failed its health check and is not replaced", time.Duration(0)
	eventually(t, "diagnose names "+machine, unhealthySeconds*time.Second+silenceOfNodes+bootBound,
		func(context.Context) bool {
			var out string
			_, took, out = l.diagnosed(t)
			return strings.Contains(out, named)
		})
	if took > nameBound {
		t.Errorf("diagnose took %s to name %s, want %s", took, machine, nameBound)
	}
	stop(machine)
	replaced(t)
}

// diagnosed runs diagnose. It returns its exit code, how long it took, and its output.
func (l lab) diagnosed(t *testing.T) (code int, took time.Duration, out string) {
	t.Helper()
	begun := time.Now()
	code, out = l.run(t, "diagnose", l.name)
	took = time.Since(begun).Round(100 * time.Millisecond)
	t.Logf("diagnose took %s", took)
	return code, took, out
}
