package up

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

// The observation right before a step that cannot be undone allows only the decision of the phase.
func TestConfirm(t *testing.T) {
	const empty = "#!/bin/sh\n[ \"$1\" = container ] && { echo 'Error: No such container' >&2; exit 1; }\nexit 0\n"
	none, one := answer{}, answer{machines: []provider.Machine{{Name: "demo-abc"}}}
	silent := answer{err: fault.Retryable(errors.New("503 from keystone"), fault.CloudUnreachable, "")}
	cases := map[string]struct {
		answers []answer
		allows  decision
		slow    bool // each observation takes longer than a run waits for a silent cluster
		code    fault.Code
		says    string
		asked   int
	}{
		"what was decided for": {[]answer{none}, fresh, false, "", "", 1},
		"something else": {[]answer{none}, beforePivot, false, fault.Busy,
			"the clusters changed while this run was working: nothing of it exists", 1},
		"machines came meanwhile": {[]answer{one}, fresh, false, fault.ClusterUnreachable,
			"machines of demo exist", 1},
		"the answer comes late": {[]answer{silent, none}, fresh, false, "", "", 2},
		"the answer is late, and no": {[]answer{silent, one}, fresh, false, fault.ClusterUnreachable,
			"machines of demo exist", 2},
		"nobody answers before the time": {[]answer{silent}, fresh, true, fault.CloudUnreachable, "503 from keystone",
			1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			folder, state := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(empty), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
			env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(), Sets: []string{"cluster.name=demo"}})
			if err != nil {
				t.Fatal(err)
			}
			there, clock := &inventory{answers: tc.answers}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			now := func() time.Time {
				if tc.slow {
					clock = clock.Add(time.Hour)
				}
				return clock
			}
			w := newDecider(clusters.New(clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: state,
				KubeconfigPath: filepath.Join(state, "kubeconfig"), Timeout: time.Hour},
				clusters.Parts{Docker: &docker.Client{Binary: filepath.Join(folder, "docker")},
					Kind: kind.New(func(string) {}), Provider: there, Now: now}), false)
			_, err = w.confirm(t.Context(), tc.allows)
			if fault.CodeOf(err) != tc.code || tc.says != "" && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("code %q: %v", fault.CodeOf(err), err)
			}
			if there.asked != tc.asked {
				t.Errorf("asked %d times, want %d", there.asked, tc.asked)
			}
		})
	}
}
