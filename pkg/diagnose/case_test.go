package diagnose

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// aCase has something of all that a diagnosis is made of.
func aCase(t *testing.T) Case {
	t.Helper()
	objects := decode(t, component)
	c := Case{Type: caseType, SchemaVersion: schemaVersion, Environment: "demo",
		Scope: clusters.Scope{Namespace: "management", Cluster: "demo"}, NotChecked: []string{"which machines exist"},
		Observed: []Signals{{health.Ref{Kind: "Container", Name: "demo-lb"},
			[]Signal{{Origin: "stopped", Message: "does not run"}}}},
		Clusters: []Seen{{Observation: readiness.Observation{Cluster: "bootstrap", Objects: objects,
			NotChecked: []string{"secrets"}}}}}
	c.Clusters[0].Logs = []Lines{{health.RefOf(objects[0]), []string{"a line with s3cret-of-a-log"}}}
	c.Clusters[0].MachineSignals = []Signals{{health.RefOf(objects[0]), []Signal{{Origin: "journal", Message: "kubeadm failed"}}}}
	return c
}

// A diagnosis from a file says what one from the clusters said.
func TestACaseIsReadBack(t *testing.T) {
	c, err := aCase(t).redacted(func(v any) any { return v }) // numbers as they come from a server
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.Report()
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Findings) < 2 {
		t.Fatalf("the case has no causes: %+v", want)
	}
	clean, err := c.redacted(redact.New("s3cret-of-a-log").Value)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(clean)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("s3cret")) {
		t.Errorf("a secret is in it: %s", text)
	}
	back, err := ReadCase(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Clusters[0].Logs) != 1 || len(back.Clusters[0].MachineSignals) != 1 {
		t.Errorf("%+v", back.Clusters[0])
	}
	if got, err := back.Report(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestWhatIsNoCase(t *testing.T) {
	for name, text := range map[string]string{"nothing": "", "no JSON": "{",
		"something else":               `{"type":"diff","schemaVersion":1}`,
		"a later version":              `{"type":"diagnosis-case","schemaVersion":3}`,
		"nothing is said of an object": `{"type":"diagnosis-case","schemaVersion":2,"observed":[{"Object":{"Kind":"Container"}}]}`,
		"an empty object":              `{"type":"diagnosis-case","schemaVersion":2,"clusters":[{"Objects":[null]}]}`} {
		if _, err := ReadCase(strings.NewReader(text)); fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What could hold an unknown secret is not kept.
func TestWhatNobodyKnowsIsLeftOut(t *testing.T) {
	c := aCase(t)
	c.Clusters[0].secretsUnknown = true
	text, err := json.Marshal(c.withoutUnknown())
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"s3cret", "kubeadm failed", "capi"} {
		if bytes.Contains(text, []byte(kept)) {
			t.Errorf("%q is kept: %s", kept, text)
		}
	}
	r, err := c.withoutUnknown().Report()
	if err != nil || len(r.Findings) != 1 || !strings.Contains(strings.Join(r.NotChecked, "\n"),
		"all of the bootstrap cluster: left out") {
		t.Errorf("%+v, %v", r, err)
	}
	if len(c.Clusters[0].Objects) == 0 {
		t.Error("the case itself has changed")
	}
}

// Where another cluster's Secrets are not known, objects stay, and logs and what machines say do not.
func TestLogsAreLeftOutWhereAnotherClusterIsSilent(t *testing.T) {
	c := aCase(t)
	c.silent = true
	kept := c.withoutUnknown().Clusters[0]
	if len(kept.Objects) == 0 || len(kept.Logs) > 0 || len(kept.MachineSignals) > 0 ||
		!strings.Contains(strings.Join(kept.NotChecked, "\n"), "left out") {
		t.Errorf("%+v", kept)
	}
}
