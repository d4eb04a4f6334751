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
	// warnBefore is how long before its expiry a certificate or a token is reported.
	warnBefore = 30 * 24 * time.Hour
	// renewalGrace is how late a renewal may be.
	renewalGrace = time.Hour
)

// judgeExpiries finds what has expired or will soon, and what should have been renewed.
func judgeExpiries(v *view) []Finding {
	var found []Finding
	for _, e := range v.Expiries {
		left := e.At.Sub(v.now)
		f := Finding{ID: "expires-soon", Object: e.Object, Severity: Warning, Certain: true, Remedy: renewal(e)}
		switch {
		case e.Object.Kind == "Secret" && e.Object.Namespace != "" && !v.ours(e.Object.Namespace):
			continue // not managed
		case left <= 0:
			f.ID, f.Cause = "expired", fmt.Sprintf("the %s expired at %s", e.What, e.At.UTC().Format(time.RFC3339))
			if e.Object.Kind != "Secret" || e.RenewedBy != "" { // its users are not known
				f.Severity = Blocking
			}
		case left <= warnBefore && e.RenewedBy == "":
			f.Cause = fmt.Sprintf("the %s expires at %s, in %d days", e.What, e.At.UTC().Format(time.RFC3339),
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
				Cause: fmt.Sprintf("cert-manager should have renewed %s at %s: it expires at %s", health.RefOf(c),
					due.UTC().Format(time.RFC3339), text(c, "status", "notAfter")),
				Remedy: fmt.Sprintf("Check that cert-manager runs, and the state of the certificate: kubectl -n %s "+
					"describe certificate %s", c.GetNamespace(), c.GetName())})
		}
	}
	return found
}

// ours reports whether a namespace belongs to an installed component, or has a Cluster.
func (v *view) ours(namespace string) bool {
	return v.installed[namespace] || slices.ContainsFunc(v.list("cluster.x-k8s.io", "Cluster"),
		func(u *unstructured.Unstructured) bool { return u.GetNamespace() == namespace })
}

// renewal returns how to renew something that expires.
func renewal(e Expiry) string {
	switch {
	case e.RenewedBy != "":
		return "Check that " + e.RenewedBy + " runs: it renews this."
	case e.Object.Kind == "Kubeconfig":
		return "Fetch a new one: cluster-init kubeconfig ENVIRONMENT. Cluster API renews its own copy."
	case e.Object.Kind == "Machine" || e.Object.Kind == "APIServer":
		return "Renew them on each control-plane machine, and restart its API server, as docs/guides/certificates.md " +
			"says. Do not replace a machine with a floating IP that CAPO made: the address would be deleted."
	}
	return "Renew it before it expires."
}

// Earliest returns what expires first of what nothing renews automatically. False means no expiry is known.
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

// machineExpiries are the expiries of control planes' certificates, as Cluster API reads them from the machines.
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
