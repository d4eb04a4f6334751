package readiness

import (
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// judgeAPIServer finds the checks that the API server itself reports as failed.
func judgeAPIServer(v *view) []Finding {
	var found []Finding
	for _, p := range v.probes(ReadyCheck) {
		if p.OK {
			continue
		}
		f := Finding{ID: "api-server-check-failed", Object: p.Object, Severity: Blocking, Certain: true,
			Transient: true, Message: p.Message,
			Cause:  "the API server reports its check " + p.Object.Name + " as failed",
			Remedy: "Check the log of kube-apiserver on the control-plane node."}
		if strings.HasPrefix(p.Object.Name, "etcd") {
			f.Remedy = "Check that etcd runs and has space: its log, and its alarms (etcdctl alarm list)."
		}
		found = append(found, f)
	}
	return found
}

// judgeEtcd finds unhealthy members of etcd. One with an alarm accepts no write.
func judgeEtcd(v *view) []Finding {
	var found []Finding
	for _, p := range v.probes(EtcdHealth) {
		if p.OK {
			continue
		}
		f := Finding{ID: "etcd-unhealthy", Object: p.Object, Severity: Blocking, Certain: true, Message: p.Message,
			Cause: "etcd is not healthy: " + p.Message, Remedy: fmt.Sprintf("Check its log: kubectl -n %s logs %s",
				p.Object.Namespace, p.Object.Name)}
		switch {
		case strings.Contains(p.Message, "NOSPACE"):
			f.ID, f.Cause = "etcd-full", "etcd is full (alarm NOSPACE): no object can be created or changed"
			f.Remedy = "Delete what fills it, then in the etcd container: etcdctl compact, etcdctl defrag, etcdctl " +
				"alarm disarm. To prevent it, raise quota-backend-bytes."
		case strings.Contains(p.Message, "CORRUPT"):
			f.ID, f.Cause = "etcd-corrupt", "the data of an etcd member is corrupt (alarm CORRUPT)"
			f.Remedy = "Replace the machine of that member."
		}
		found = append(found, f)
	}
	return found
}

const (
	// clockTolerance is how far two clocks may be apart: certificates, tokens and Leases are dated.
	clockTolerance = 30 * time.Second
	// hastyWrites: a time with whole seconds, and a request that takes a moment, differ by that much without any fault.
	hastyWrites = 5 * time.Second
)

// judgeClocks finds clocks that differ: this machine's from the API server's, and a node's from the API server's.
func judgeClocks(v *view) []Finding {
	var found []Finding
	if !v.At.IsZero() && !v.Local.IsZero() {
		if apart := v.Local.Sub(v.At); apart.Abs() > clockTolerance {
			found = append(found, Finding{ID: "clock-differs", Object: health.Ref{Kind: "APIServer", Name: v.Cluster},
				Severity: Warning, Certain: true,
				Cause:  fmt.Sprintf("the clock of this machine is %s the API server's", aheadOrBehind(apart)),
				Remedy: "Set the clocks by NTP, on this machine and on the control-plane nodes."})
		}
	}
	for _, lease := range v.list("coordination.k8s.io", "Lease") {
		w := v.writes[health.RefOf(lease)]
		renewed := moment(text(lease, "spec", "renewTime"))
		if lease.GetNamespace() != "kube-node-lease" || w.Clock.IsZero() || renewed.IsZero() {
			continue
		}
		if apart := renewed.Sub(w.Clock); apart.Abs() > clockTolerance+hastyWrites {
			found = append(found, Finding{ID: "clock-differs", Object: health.Ref{Kind: "Node", Name: lease.GetName()},
				Severity: Warning, Certain: true,
				Cause: fmt.Sprintf("the clock of node %s is %s the API server's", lease.GetName(),
					aheadOrBehind(apart)), Remedy: "Set the node's clock by NTP (timedatectl; chronyc tracking)."})
		}
	}
	return found
}

func aheadOrBehind(apart time.Duration) string {
	if apart < 0 {
		return (-apart).Round(time.Second).String() + " behind"
	}
	return apart.Round(time.Second).String() + " ahead of"
}
