package status

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/up"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

func of(state string) Side {
	return Side{State: "active", Server: "https://192.0.2.1:6443", Versions: map[string]string{"kubernetes": "v1.36.4",
		"flux": "v2.9.5"}, Objects: []Object{
		{Kind: "Kustomization", Namespace: "flux-system", Name: "capi", State: "Ready",
			Message: "Applied revision: x@sha256:0123456789abcdef"},
		{Kind: "Kustomization", Namespace: "flux-system", Name: "capd", State: state,
			Message: "health check failed:\nDeployment/capd"},
		{Kind: "KubeadmControlPlane", Namespace: "default", Name: "demo", State: "Ready", Version: "v1.36.4"},
	}}
}

func TestJudge(t *testing.T) {
	foreign, silent, busy := fault.New(fault.ClusterForeign, "another cluster", ""),
		fault.New(fault.ClusterUnreachable, "silent", ""), fault.New(fault.Busy, "down", "")
	notChecked := clusters.BootstrapSide{State: clusters.BootstrapSilent, NotChecked: true, Err: silent}
	byItself := up.Outlook{Stage: up.Refused, Refusal: silent, Observation: clusters.Observation{Bootstrap: notChecked,
		Management: clusters.ManagementSide{State: clusters.ManagementActive}}}
	paused, exists := byItself, byItself
	paused.Management.State, exists.Bootstrap.NotChecked = clusters.ManagementPaused, false
	for name, row := range map[string]struct {
		seen up.Outlook
		r    Report
		want State
		code fault.Code
	}{
		"all of it is ready": {up.Outlook{Stage: up.SelfManaged},
			Report{Management: of("Ready")}, Up, ""},
		"an installed cluster": {up.Outlook{Stage: up.Refused, Refusal: foreign, Observation: clusters.Observation{
			Management: clusters.ManagementSide{State: clusters.ManagementEmpty, Installed: true}}},
			Report{Management: of("Ready")}, Up, ""},
		"something is progressing": {up.Outlook{Stage: up.SelfManaged},
			Report{Management: of("Progressing")}, Progressing, fault.StatusProgressing},
		"something has given up": {up.Outlook{Stage: up.SelfManaged},
			Report{Management: of("Failed")}, Stuck, fault.ComponentStuck},
		"something is suspended": {up.Outlook{Stage: up.SelfManaged},
			Report{Management: of("Suspended")}, Stuck, fault.ComponentStuck},
		"something is paused": {up.Outlook{Stage: up.SelfManaged},
			Report{Management: of("Paused")}, Stuck, fault.ComponentStuck},
		"ready, as far as it is known": {up.Outlook{Stage: up.SelfManaged},
			Report{Management: of("Ready"), Unknown: []string{"machines: forbidden"}}, Unknown,
			fault.ClusterUnreachable},
		"before the pivot": {up.Outlook{Stage: up.BeforePivot},
			Report{Bootstrap: of("Ready")}, Progressing, fault.StatusProgressing},
		"before the pivot, and stuck": {up.Outlook{Stage: up.BeforePivot},
			Report{Bootstrap: of("Failed")}, Stuck, fault.ComponentStuck},
		"a pivot suspends what it moves": {up.Outlook{Stage: up.PivotBegun},
			Report{Bootstrap: of("Suspended")}, Progressing, fault.StatusProgressing},
		"a pivot was interrupted": {up.Outlook{Stage: up.HalfMoved}, Report{}, Broken,
			fault.StatusBroken},
		"nothing is there": {up.Outlook{Stage: up.NotThere}, Report{}, Absent,
			fault.StatusAbsent},
		"something is stopped": {up.Outlook{Stage: up.Stopped}, Report{}, Stuck,
			fault.ComponentStuck},
		"something foreign": {up.Outlook{Stage: up.Refused, Refusal: foreign}, Report{},
			Broken, fault.StatusBroken},
		"a cluster that does not answer": {up.Outlook{Stage: up.Refused, Refusal: silent}, Report{},
			Unknown, fault.ClusterUnreachable},
		"only its kubeconfig is here": {byItself,
			Report{Management: of("Ready"), MachinesUnknown: "no engine"}, Up, ""},
		"only its kubeconfig is here, and it is not ready": {byItself, Report{Management: of("Failed")}, Stuck,
			fault.ComponentStuck},
		"only its kubeconfig is here, and it is paused": {paused, Report{Management: of("Ready")}, Unknown,
			fault.ClusterUnreachable},
		"a bootstrap cluster that is silent": {exists, Report{Management: of("Ready")}, Unknown,
			fault.ClusterUnreachable},
		"an error of no kind": {up.Outlook{Stage: up.Refused, Refusal: errors.New("no")},
			Report{}, Unknown, fault.ClusterUnreachable},
		"a down is at work, or was begun": {up.Outlook{Stage: up.Refused, Refusal: busy}, Report{},
			Progressing, fault.StatusProgressing},
	} {
		t.Run(name, func(t *testing.T) {
			row.r.State, row.r.Why = judge(row.seen, row.r)
			if row.r.State != row.want || row.r.Why == "" || fault.CodeOf(row.r.Err()) != row.code {
				t.Errorf("%q, %q, %v, want %q", row.r.State, row.r.Why, row.r.Err(), row.want)
			}
		})
	}
}

func TestPrint(t *testing.T) {
	r := Report{Environment: "kubeadm-capd", Cluster: "default/demo", State: Progressing,
		Why:       "Kustomization/capd is progressing: health check failed",
		Bootstrap: Side{State: "silent", Error: "container demo is paused"}, Management: of("Progressing"),
		Machines: []string{"demo-lb (stopped)", "demo-a"},
		WorkloadClusters: []workload.Listed{{Namespace: "team-a", Name: "shop", State: workload.Ready},
			{Namespace: "team-a", Name: "till", State: workload.Failed, Message: "install retries exhausted"}},
		Unknown: []string{"machines.cluster.x-k8s.io of the management cluster: forbidden"}}
	var plain, wide bytes.Buffer
	if err := errors.Join(r.Print(&plain), Wide{r}.Print(&wide)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "plain.txt", plain.Bytes())
	golden.Check(t, "wide.txt", wide.Bytes())
}

func TestPrintDrift(t *testing.T) {
	r := Report{Environment: "kubeadm-capd", Cluster: "default/demo", State: Up,
		Why: "the management cluster manages itself"}
	var out bytes.Buffer
	for _, r.Drift = range []*Drift{nil, {},
		{Values: []Difference{{Key: "cluster.worker.replicas", From: "0", To: "1"}, {Key: "capo.password"}}},
		{Unknown: "read the values that the management cluster was last given: forbidden"}} {
		if err := r.Print(&out); err != nil {
			t.Fatal(err)
		}
		out.WriteString("----\n")
	}
	golden.Check(t, "drift.txt", out.Bytes())
}

// What is not up says what can be done now; what is up has nothing to say.
func TestPrintHint(t *testing.T) {
	var out bytes.Buffer
	for _, state := range []State{Up, Progressing, Stuck, Broken, Absent, Unknown} {
		r := Report{Environment: "kubeadm-capd", Cluster: "default/demo", State: state, Why: "it is so",
			Bootstrap: Side{State: "absent"}, Management: Side{State: "absent"}}
		if err := errors.Join(r.Print(&out), Wide{r}.Print(&out)); err != nil {
			t.Fatal(err)
		}
		out.WriteString("----\n")
	}
	golden.Check(t, "hint.txt", out.Bytes())
}

func TestChanges(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	before, now := Report{State: Progressing, Bootstrap: of("Ready"), Management: of("Progressing")},
		Report{State: Up, Why: "well", Bootstrap: Side{State: "absent"}, Management: of("Ready")}
	got := strings.Join(now.Changes(before, at), "\n")
	want := `12:00:00  bootstrap cluster: KubeadmControlPlane/demo is gone
12:00:00  bootstrap cluster: Kustomization/capd is gone
12:00:00  bootstrap cluster: Kustomization/capi is gone
12:00:00  bootstrap cluster: absent
12:00:00  management cluster: Kustomization/capd Ready health check failed: Deployment/capd
12:00:00  up: well`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	before.WorkloadClusters = []workload.Listed{{Namespace: "a", Name: "b", State: workload.Progressing},
		{Namespace: "a", Name: "c", State: workload.Ready}}
	now.WorkloadClusters = []workload.Listed{{Namespace: "a", Name: "b", State: workload.Ready}}
	if lines := strings.Join(now.Changes(before, at), "\n"); !strings.Contains(lines, "workload cluster a/b: Ready") ||
		!strings.Contains(lines, "workload cluster a/c is gone") {
		t.Error(lines)
	}
	if same := now.Changes(now, at); len(same) > 0 {
		t.Error(same)
	}
	silent := Report{State: Unknown, Bootstrap: before.Bootstrap, Management: Side{State: "silent"}}
	listed := Report{State: Progressing, Unknown: []string{"list Kustomizations: forbidden"}, Bootstrap: before.Bootstrap,
		Management: Side{State: "active", Server: "https://192.0.2.1:6443"}}
	for _, r := range []Report{silent, listed} {
		if lines := strings.Join(r.Changes(before, at), "\n"); strings.Contains(lines, "gone") {
			t.Errorf("objects that nobody could list are reported as gone:\n%s", lines)
		}
	}
}
