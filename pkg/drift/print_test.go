package drift_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/drift"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// all has one of each.
func all() drift.Report {
	r := drift.New("demo")
	made := make([]drift.Object, 5)
	for i := range made {
		made[i] = drift.Object{Change: drift.Create, Kind: "Deployment", Namespace: "capi-system", Name: "a"}
	}
	r.Clusters = []drift.Cluster{
		{Name: "bootstrap", Server: "https://127.0.0.1:6443", Note: "its Flux is suspended", Parts: []drift.Part{}},
		{Name: "management", Server: "https://192.0.2.1:6443", Error: "no route to host", Parts: []drift.Part{
			{Name: "values", Values: []drift.Field{{Path: "cluster.worker.replicas", From: "0", To: "1"},
				{Path: "git_auth_default.password"}}, Objects: []drift.Object{}},
			{Name: "chart", Same: 40, Objects: []drift.Object{}},
			{Name: "capi", Objects: made},
			{Name: "cni", Note: "read by Flux from the source of mine, which was not asked", Objects: []drift.Object{}},
			{Name: "cluster", Same: 3, Objects: []drift.Object{
				{Change: drift.Update, Kind: "MachineDeployment", Namespace: "management", Name: "workers",
					Fields: []drift.Field{
						{Path: "/spec/replicas", From: 0, To: 1}, {Path: "/spec/text", To: "two\nlines"},
						{Path: "/spec/long", From: strings.Repeat("x", 200), To: map[string]any{"a": 1}}}},
				{Change: drift.Delete, Kind: "Namespace", Name: "old"},
				{Change: drift.Leave, Kind: "ConfigMap", Namespace: "x", Name: "old"},
				{Change: drift.Refused, Kind: "Service", Namespace: "x", Name: "api", Message: "field is immutable"},
				{Change: drift.Unknown, Kind: "Secret", Namespace: "x", Name: "s", Message: "forbidden"},
			}},
		}},
	}
	return r
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	if err := all().Print(&b); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "report.txt", []byte(b.String()))
}

// Where nothing was compared, nothing is said of differences.
func TestNothingWasCompared(t *testing.T) {
	for name, tc := range map[string]struct {
		clusters []drift.Cluster
		last     string
	}{
		"a silent engine": {[]drift.Cluster{{Name: "bootstrap", Error: "the engine does not answer"}},
			"Nothing was compared."},
		"its Flux is suspended": {[]drift.Cluster{{Name: "bootstrap", Note: "its Flux is suspended"}},
			"Nothing was compared."},
		"nothing to compare with": {[]drift.Cluster{{Name: "bootstrap", Parts: []drift.Part{{Name: "cni",
			Note: "not compared: applies to the management cluster, which does not answer"}}}}, "Nothing was compared."},
		"one of two": {[]drift.Cluster{{Name: "bootstrap", Error: "silent"},
			{Name: "management", Parts: []drift.Part{{Name: "chart"}}}}, "Nothing differs in what could be compared."},
		"one without a release": {[]drift.Cluster{{Name: "management", All: true}},
			"Differences: what does not exist yet."},
		"a part was not compared": {[]drift.Cluster{{Name: "management", Parts: []drift.Part{{Name: "chart", Same: 1},
			{Name: "cni", Note: "read by Flux from another source"}}}}, "Nothing differs in what could be compared."},
		"all of it, and it is so": {[]drift.Cluster{{Name: "management", Parts: []drift.Part{{Name: "chart"}}}},
			"Nothing differs."},
		"there is no cluster": {nil, "No cluster exists yet: everything would be created."},
	} {
		t.Run(name, func(t *testing.T) {
			r := drift.New("demo")
			r.Clusters = append(r.Clusters, tc.clusters...)
			var b strings.Builder
			if err := r.Print(&b); err != nil {
				t.Fatal(err)
			}
			if lines := strings.Split(strings.TrimSpace(b.String()), "\n"); lines[len(lines)-1] != tc.last {
				t.Errorf("it ends with %q, want %q", lines[len(lines)-1], tc.last)
			}
		})
	}
}

// A difference is what a run would change; what is not known is none, and an error.
func TestWhatDiffers(t *testing.T) {
	of := func(o ...drift.Object) drift.Report {
		r := drift.New("demo")
		r.Clusters = []drift.Cluster{{Name: "management", Parts: []drift.Part{{Name: "capi", Objects: o}}}}
		return r
	}
	for name, tc := range map[string]struct {
		report  drift.Report
		differs bool
		code    fault.Code
	}{
		"nothing": {of(), false, ""},
		"a cluster without a release": {drift.Report{Clusters: []drift.Cluster{{Name: "management", All: true}}}, true,
			""},
		"a part that is not there": {drift.Report{Clusters: []drift.Cluster{{Name: "management",
			Parts: []drift.Part{{Name: "capi", All: true}}}}}, true, ""},
		"no cluster":      {drift.New("demo"), true, ""},
		"it stays":        {of(drift.Object{Change: drift.Leave}), false, ""},
		"it is not known": {of(drift.Object{Change: drift.Unknown}), false, fault.ClusterUnreachable},
		"to make":         {of(drift.Object{Change: drift.Create}), true, ""},
		"to delete":       {of(drift.Object{Change: drift.Delete}), true, ""},
		"refused":         {of(drift.Object{Change: drift.Refused}), true, ""},
		"all":             {all(), true, fault.ClusterUnreachable},
	} {
		if err := tc.report.Err(); tc.report.Differs() != tc.differs || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: differs %v, want %v; %v", name, tc.report.Differs(), tc.differs, err)
		}
	}
	if err := all().Err(); !strings.Contains(err.Error(), "no route to host") || errors.Unwrap(err) == nil {
		t.Errorf("the error does not say why: %v", err)
	}
}
