package down

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// inventory is a provider that returns these answers one after the other, and then keeps the last one.
type inventory struct {
	provider.Provider
	answers []answer
	asked   int
}

type answer struct {
	machines []provider.Machine
	err      error
}

func (i *inventory) Place() string { return "Docker" }

func (i *inventory) Machines(context.Context) ([]provider.Machine, error) {
	a := i.answers[min(i.asked, len(i.answers)-1)]
	i.asked++
	return a.machines, a.err
}

// newJudged returns a world without containers, in which a provider lists the machines. now is its clock.
func newJudged(t *testing.T, machines provider.Provider, now func() time.Time) (*decider, Options, clusters.Parts) {
	t.Helper()
	const empty = "#!/bin/sh\n[ \"$1\" = container ] && { echo 'Error: No such container' >&2; exit 1; }\n[ \"$1\" = " +
		"info ] && echo '{\"ServerVersion\":\"29.0.0\"}'\nexit 0\n"
	folder, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(empty), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"cluster.name=demo", "cluster.namespace=ns"}})
	if err != nil {
		t.Fatal(err)
	}
	asked := Options{Environment: env, Subject: clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: state,
		KubeconfigPath: filepath.Join(state, "kubeconfig"), Timeout: time.Hour}}
	parts := clusters.Parts{Docker: &docker.Client{Binary: filepath.Join(folder, "docker")},
		Kind: kind.New(func(string) {}), Provider: machines, Now: now}
	return newDecider(clusters.New(asked.Subject, parts)), asked, parts
}

// The observation right before a step that cannot be undone allows only the decision of the phase.
func TestConfirm(t *testing.T) {
	none, one := answer{}, answer{machines: []provider.Machine{{Name: "demo-abc"}}}
	stopped := answer{machines: []provider.Machine{{Name: "demo-abc", Stopped: true}}}
	silent := answer{err: fault.Retryable(errors.New("503 from keystone"), fault.CloudUnreachable, "")}
	for name, tc := range map[string]struct {
		answers []answer
		allows  decision
		slow    bool // each observation takes longer than a run waits for a silent cluster
		code    fault.Code
		says    string
		asked   int
	}{
		"what was decided for": {[]answer{none}, sweep, false, "", "", 1},
		"something else": {[]answer{none}, remove, false, fault.Busy,
			"the clusters changed while this run was working: nothing of it exists but leftovers", 1},
		"machines came meanwhile": {[]answer{one}, sweep, false, fault.ClusterUnreachable,
			"machines of demo exist", 1},
		"the answer comes late": {[]answer{silent, none}, sweep, false, "", "", 2},
		"the answer is late, and no": {[]answer{silent, one}, sweep, false, fault.ClusterUnreachable,
			"machines of demo exist", 2},
		"nobody answers before the time": {[]answer{silent}, sweep, true, fault.CloudUnreachable, "503 from keystone",
			1},
		"a machine was being made": {[]answer{stopped, none}, sweep, false, "", "", 2},
		"a machine was stopped": {[]answer{stopped}, sweep, true, fault.ClusterUnreachable,
			"stopped meanwhile", 1},
	} {
		t.Run(name, func(t *testing.T) {
			there, clock := &inventory{answers: tc.answers}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			w, _, _ := newJudged(t, there, func() time.Time {
				if tc.slow {
					clock = clock.Add(time.Hour)
				}
				return clock
			})
			_, err := w.confirm(t.Context(), tc.allows)
			if fault.CodeOf(err) != tc.code || tc.says != "" && !strings.Contains(err.Error(), tc.says) || err != nil &&
				fault.HintOf(err) == "" {
				t.Errorf("code %q: %v", fault.CodeOf(err), err)
			}
			if there.asked != tc.asked {
				t.Errorf("asked %d times, want %d", there.asked, tc.asked)
			}
		})
	}
}

// The plan starts and deletes nothing, and shows what exists.
func TestPlanOfWhatIsNotThere(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []answer
		nothing bool
		code    fault.Code
		says    string
	}{
		"nothing": {[]answer{{}}, true, "",
			"Cluster ns/demo: nothing of it exists but leftovers\n  delete what it has left"},
		"machines of nobody": {[]answer{{machines: []provider.Machine{{Name: "demo-abc"}}}}, false,
			fault.ClusterUnreachable, ""},
		"a machine that is stopped": {[]answer{{machines: []provider.Machine{{Name: "demo-abc", Stopped: true}}}},
			false, "", "something of it is stopped, and is started first"},
	} {
		t.Run(name, func(t *testing.T) {
			now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
			_, asked, parts := newJudged(t, &inventory{answers: tc.answers}, now)
			p, err := New(asked, parts).Plan(t.Context())
			if fault.CodeOf(err) != tc.code || p.Nothing != tc.nothing {
				t.Fatalf("%+v, %v", p, err)
			}
			var text strings.Builder
			if err := p.Print(&text); err != nil || !strings.Contains(text.String(), tc.says) {
				t.Errorf("%q, %v", text.String(), err)
			}
		})
	}
}
