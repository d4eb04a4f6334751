package readiness

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// An API server that does not send its time, or does not answer: ages come from this machine's clock.
func TestAnObservationHasATime(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no time": func(w http.ResponseWriter, _ *http.Request) { w.Header()["Date"] = nil },
		"no answer": func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/readyz") {
				return
			}
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = connection.Close()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			kubeconfig := `{"clusters": [{"name": "x", "cluster": {"server": "` + server.URL + `"}}], "contexts": ` +
				`[{"name": "x", "context": {"cluster": "x"}}], "current-context": "x"}`
			c, err := kube.Connect("management", []byte(kubeconfig), runtime.NewScheme())
			if err != nil {
				t.Fatal(err)
			}
			o := Observe(t.Context(), c)
			if age := newView(o).age(time.Now().Add(-time.Hour)); !o.At.IsZero() || age < time.Hour-time.Minute ||
				age > time.Hour+time.Minute {
				t.Errorf("at %v, an hour ago is %s ago", o.At, age)
			}
			if noted := slices.ContainsFunc(o.NotChecked, func(s string) bool {
				return strings.Contains(s, "API server")
			}); !noted {
				t.Errorf("not checked: %q", o.NotChecked)
			}
		})
	}
}

// By this machine's clock, which nobody has compared with the server's, what rests on an age is reported, and has low
// confidence. What rests on a state keeps its confidence, and may go away.
func TestAgesWithoutTheServersTime(t *testing.T) {
	down := []any{map[string]any{"type": "Available", "status": "False", "lastTransitionTime": "2026-01-01T11:50:00Z"}}
	for name, tc := range map[string]struct {
		edit func(*Observation)
		want string
	}{
		"nothing": {func(*Observation) {}, ""},
		"a silent kubelet": {func(o *Observation) {
			set(t, o.find(t, "Lease/kube-node-lease/cp"), "2026-01-01T11:58:00.000000Z", "spec", "renewTime")
		}, "kubelet-silent Node/cp blocking low transient=false"},
		"a stuck deletion": {func(o *Observation) {
			set(t, o.find(t, "Pod/capi-system/capi-controller-manager-5-y"), "2026-01-01T11:50:00Z", "metadata",
				"deletionTimestamp")
		}, "deletion-stuck Pod/capi-system/capi-controller-manager-5-y warning low transient=false"},
		"no leader": {func(o *Observation) {
			set(t, o.find(t, "Lease/kube-system/kube-scheduler"), "2026-01-01T11:50:00.000000Z", "spec", "renewTime")
		}, "lease-not-renewed Lease/kube-system/kube-scheduler blocking low transient=false"},
		"an expired certificate": {func(o *Observation) {
			o.Expiries = append(o.Expiries, Expiry{Object: ref("Kubeconfig/x"), What: "x", At: noon.Add(-time.Hour)})
		}, "expired Kubeconfig/x blocking low transient=false"},
		"a spec that was not seen": {func(o *Observation) {
			set(t, o.find(t, "Cluster/default/demo"), int64(3), "metadata", "generation")
			o.Writes = append(o.Writes, Write{Object: health.Ref{Group: "cluster.x-k8s.io", Kind: "Cluster",
				Namespace: "default", Name: "demo"}, At: noon.Add(-time.Hour), Clock: noon})
		}, "spec-not-seen Cluster/default/demo blocking low transient=false"},
		"a workload without Pods": {func(o *Observation) {
			u := o.find(t, "Deployment/capi-system/capi-controller-manager")
			set(t, u, int64(0), "status", "availableReplicas")
			set(t, u, down, "status", "conditions")
		}, "workload-unavailable Deployment/capi-system/capi-controller-manager blocking high transient=true"},
		"a workload that is scaled down": {func(o *Observation) {
			set(t, o.find(t, "Deployment/capi-system/capi-controller-manager"), int64(0), "spec", "replicas")
		}, "workload-scaled-down Deployment/capi-system/capi-controller-manager blocking high transient=false"},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy(t)
			o.At = time.Time{}
			tc.edit(&o)
			var got []string
			for _, f := range Judge(o) {
				got = append(got, fmt.Sprintf("%s %s %s %s transient=%t", f.ID, f.Object, f.Severity, f.Confidence(),
					f.Transient))
			}
			if text := strings.Join(got, "\n"); text != tc.want {
				t.Errorf("found\n%s\nwant\n%s", text, tc.want)
			}
		})
	}
}
