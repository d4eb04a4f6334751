package readiness

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

const (
	// warnBefore is how long before its end a certificate or a token is named.
	warnBefore = 30 * 24 * time.Hour
	// renewalGrace is how late a renewal may be.
	renewalGrace = time.Hour
)

// judgeExpiries finds what has ended or ends soon, and what should have been renewed.
func judgeExpiries(v *view) []Finding {
	var found []Finding
	for _, e := range v.Expiries {
		left := e.At.Sub(v.now)
		f := Finding{ID: "expires-soon", Object: e.Object, Severity: Warning, Certain: true, Remedy: renewal(e)}
		switch {
		case e.Object.Kind == "Secret" && e.Object.Namespace != "" && !v.ours(e.Object.Namespace):
			continue // a stranger's
		case left <= 0:
			f.ID, f.Cause = "expired", fmt.Sprintf("the %s has ended at %s", e.What, e.At.UTC().Format(time.RFC3339))
			if e.Object.Kind != "Secret" || e.RenewedBy != "" { // who uses another one is not known
				f.Severity = Blocking
			}
		case left <= warnBefore && e.RenewedBy == "":
			f.Cause = fmt.Sprintf("the %s ends at %s, in %d days", e.What, e.At.UTC().Format(time.RFC3339),
				int(left.Hours()/24))
		default:
			continue
		}
		found = append(found, f)
	}
	for _, c := range v.list("cert-manager.io", "Certificate") {
		if due := moment(text(c, "status", "renewalTime")); !due.IsZero() && v.age(due) > renewalGrace &&
			v.installed[c.GetNamespace()] {
			found = append(found, Finding{ID: "renewal-overdue", Object: health.RefOf(c), Severity: Blocking,
				Certain: true,
				Cause: fmt.Sprintf("cert-manager was to renew %s at %s, and has not: it ends at %s", health.RefOf(c),
					due.UTC().Format(time.RFC3339), text(c, "status", "notAfter")),
				Remedy: fmt.Sprintf("See that cert-manager runs, and what the certificate says: kubectl -n %s "+
					"describe certificate %s", c.GetNamespace(), c.GetName())})
		}
	}
	return found
}

// ours reports whether a namespace is one of what is installed, or has a Cluster.
func (v *view) ours(namespace string) bool {
	return v.installed[namespace] || slices.ContainsFunc(v.list("cluster.x-k8s.io", "Cluster"),
		func(u *unstructured.Unstructured) bool { return u.GetNamespace() == namespace })
}

// renewal is what renews something that ends.
func renewal(e Expiry) string {
	switch {
	case e.RenewedBy != "":
		return "See that " + e.RenewedBy + " runs and renews it."
	case e.Object.Kind == "Kubeconfig":
		return "Fetch a new one: cluster-init kubeconfig ENVIRONMENT; Cluster API renews the one that it keeps."
	case e.Object.Kind == "Machine" || e.Object.Kind == "APIServer":
		return "Replace the control-plane machines, one after the other: new machines have new certificates. Or on " +
			"each: kubeadm certs renew all."
	}
	return "Renew it before that."
}

// Earliest is what ends first of what nothing renews by itself; false where nothing is known to end.
func Earliest(o Observation) (Expiry, bool) {
	list := slices.DeleteFunc(slices.Clone(o.Expiries), func(e Expiry) bool { return e.RenewedBy != "" })
	if len(list) == 0 {
		return Expiry{}, false
	}
	return slices.MinFunc(list, func(a, b Expiry) int {
		return cmp.Or(a.At.Compare(b.At),
			cmp.Compare(a.What, b.What))
	}), true
}

// machineExpiries are the ends of control planes' certificates, as Cluster API reads them from the machines.
func machineExpiries(objects []*unstructured.Unstructured) []Expiry {
	var found []Expiry
	for _, u := range objects {
		r := health.RefOf(u)
		if r.Group != "cluster.x-k8s.io" || r.Kind != "Machine" {
			continue
		}
		at := moment(text(u, "status", "certificatesExpiryDate"))
		if at.IsZero() {
			at = moment(u.GetAnnotations()["machine.cluster.x-k8s.io/certificates-expiry"])
		}
		if !at.IsZero() {
			found = append(found, Expiry{Object: r, What: "control plane's certificate on " + r.Name, At: at})
		}
	}
	return found
}
