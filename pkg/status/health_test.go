package status

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// Text from a cluster cannot control the terminal.
func TestPrintHealthRemovesControlCharacters(t *testing.T) {
	r := Report{Environment: "demo", State: Up, Health: &Health{
		Findings:    []Finding{{Object: "Node/a\x1b[31m\nforged", Severity: "warning\x1b[31m", Cause: "a cause"}},
		FirstExpiry: &Expiry{What: "certificate\x1b[31m"}}}
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\nforged") {
		t.Errorf("the output has control characters: %q", out.String())
	}
}

// A management cluster that says that it is ready is not up when it cannot act, and a warning takes nothing away from
// it.
func TestWhatCannotActIsNotUp(t *testing.T) {
	blocking := Finding{Object: "Deployment/capi-system/capi", Cause: "it has 0 replicas", Severity: readiness.Blocking,
		Confidence: "high"}
	warning, unsure := blocking, blocking
	warning.Severity, unsure.Confidence = readiness.Warning, "low"
	lasting := Cause{Object: blocking.Object, Cause: blocking.Cause, Remedy: "scale it up", Lasting: true}
	passing := lasting
	passing.Lasting = false
	for name, row := range map[string]struct {
		health Health
		causes []Cause
		want   State
		code   fault.Code
	}{
		"nothing is wrong":  {Health{complete: true}, nil, Up, ""},
		"something will be": {Health{complete: true, Findings: []Finding{warning}}, nil, Up, ""},
		"something may be":  {Health{complete: true, Findings: []Finding{unsure}}, nil, Up, ""},
		"a controller does not act": {Health{complete: true, Findings: []Finding{warning, blocking}}, nil,
			Progressing, fault.StatusProgressing},
		"and a second look has seen it, too": {Health{complete: true, Findings: []Finding{blocking}}, []Cause{lasting},
			Stuck, fault.ComponentStuck},
		"and a second look has not": {Health{complete: true, Findings: []Finding{blocking}}, []Cause{passing},
			Progressing, fault.StatusProgressing},
		"whether controllers act is unknown": {Health{NotChecked: []string{"pods: forbidden"}}, nil, Unknown,
			fault.ClusterUnreachable},
	} {
		r := Report{Environment: "demo", State: Up, Why: "it manages itself"}.withHealth(row.health).Because(row.causes)
		if r.State != row.want || fault.CodeOf(r.Err()) != row.code {
			t.Errorf("%s: %s (%s), %v", name, r.State, r.Why, r.Err())
		}
	}
}

func TestPrintHealth(t *testing.T) {
	known := Finding{Object: "Node/a", Cause: "it is cordoned", Remedy: "uncordon it", Severity: readiness.Warning}
	other := Finding{Object: "Kubeconfig/x", Cause: "it ends soon", Remedy: "fetch a new one",
		Severity: readiness.Warning}
	r := Report{Environment: "demo", State: Up,
		Causes: []Cause{{Object: known.Object, Cause: known.Cause, Remedy: known.Remedy}},
		Health: &Health{Findings: []Finding{known, other}, FirstExpiry: &Expiry{"client certificate of the kubeconfig",
			time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)}, NotChecked: []string{"leases: forbidden"}}}
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"warning: it ends soon\n    object: Kubeconfig/x\n    remedy: fetch a new one\n",
		"expires first: the client certificate of the kubeconfig, at 2027-01-02T03:04:05Z\n",
		"not checked:\n  leases: forbidden\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Count(out.String(), known.Cause) != 1 {
		t.Errorf("a cause is said once:\n%s", out.String())
	}
}
