package readiness

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// judgeReplacements finds machines that failed a health check: those that are being replaced, those that their owner
// does not replace, and health checks that replace none because too many machines are unhealthy. All are warnings: what
// waits for the machines says so itself, and they may be those of a workload cluster.
func judgeReplacements(v *view) []Finding {
	var found []Finding
	blocked := map[health.Ref][]string{}
	for _, m := range v.list("cluster.x-k8s.io", "Machine") {
		r, fails := health.ReplacementOf(m)
		if !fails {
			continue
		}
		f := Finding{Object: health.RefOf(m), Severity: Warning, Certain: true, Message: r.Unhealthy}
		switch {
		case r.Started:
			f.ID, f.Transient = "machine-replaced", true
			f.Cause = fmt.Sprintf("Machine %s failed its health check and is being replaced", m.GetName())
			f.Remedy = "Wait until the new machine is ready."
		case r.Held != "":
			f.ID = "machine-not-replaced"
			f.Cause = fmt.Sprintf("Machine %s failed its health check and is not replaced: %s", m.GetName(), r.Held)
			f.Remedy = replaceYourself(m, r.Held)
		case r.Requested:
			f.ID, f.Transient = "machine-replaced", true
			f.Cause = fmt.Sprintf("Machine %s failed its health check and is to be replaced", m.GetName())
			f.Remedy = "Wait until its owner deletes it."
		default:
			if by := v.blockedCheck(m); by != nil {
				blocked[health.RefOf(by)] = append(blocked[health.RefOf(by)], m.GetName())
			}
			continue
		}
		found = append(found, f)
	}
	for _, check := range v.list("cluster.x-k8s.io", "MachineHealthCheck") {
		if machines := blocked[health.RefOf(check)]; len(machines) > 0 {
			found = append(found, blockedFinding(check, machines))
		}
	}
	return found
}

// replaceYourself is the remedy for a machine that its owner does not replace because of what it says. Cluster API asks
// the leader of etcd itself to give its role away, through the machine's kubelet: a leader without kubelet, or without
// containerd, remains one, and is not deleted either (v1.14.2, forwardEtcdLeadership).
func replaceYourself(machine *unstructured.Unstructured, because string) string {
	if strings.Contains(because, "etcd leadership") {
		return fmt.Sprintf("If the other control-plane machines run, stop the server or the container of %s. etcd "+
			"then elects another leader, and the machine is replaced.", machine.GetName())
	}
	return fmt.Sprintf("Repair the machine, or the other machines that it names. To replace it yourself, make a "+
		"backup first: kubectl -n %s delete machine %s", machine.GetNamespace(), machine.GetName())
}

func blockedFinding(check *unstructured.Unstructured, machines []string) Finding {
	most, _, _ := unstructured.NestedFieldNoCopy(check.Object, "spec", "remediation", "triggerIf",
		"unhealthyLessThanOrEqualTo")
	missing := number(check, 0, "status", "expectedMachines") - number(check, 0, "status", "currentHealthy")
	return Finding{ID: "health-check-blocked", Object: health.RefOf(check), Severity: Warning, Certain: true,
		Cause: fmt.Sprintf("no machine of the health check %s is replaced: %d of %d machines are not healthy, and it "+
			"replaces up to %v", check.GetName(), missing, number(check, 0, "status", "expectedMachines"), most),
		Message: "unhealthy: " + strings.Join(machines, ", "),
		Remedy: fmt.Sprintf("Find what the machines have in common, such as the network, and start those that are "+
			"stopped. To replace one yourself: kubectl -n %s delete machine %s", check.GetNamespace(), machines[0])}
}

// blockedCheck returns a health check of a machine that may replace none now.
func (v *view) blockedCheck(machine *unstructured.Unstructured) *unstructured.Unstructured {
	for _, check := range v.list("cluster.x-k8s.io", "MachineHealthCheck") {
		if health.Checks(check, machine) && !health.MayReplace(check) {
			return check
		}
	}
	return nil
}
