//go:build integration

package pivot_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// cutOff stands for a CLI that is killed in the middle of a move: from the n-th request that matches on, nothing
// reaches that API server any more.
type cutOff struct {
	next  http.RoundTripper
	match func(*http.Request) bool
	left  *atomic.Int64
	gone  context.Context
	kill  context.CancelFunc
}

func (c cutOff) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.match(r) && c.left.Add(-1) < 0 {
		c.kill()
	}
	if c.gone.Err() != nil {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return c.next.RoundTrip(r)
}

// cut makes a move that goes dead, on both sides, after n requests of the method to one side.
func cut(side, method string, n int64) func(context.Context, capi.MoveInput) error {
	return func(ctx context.Context, in capi.MoveInput) error {
		gone, kill := context.WithCancel(context.Background())
		defer kill()
		left := &atomic.Int64{}
		left.Store(n)
		wrap := func(config *rest.Config, here bool) *rest.Config {
			config = rest.CopyConfig(config)
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return cutOff{next: next, gone: gone, kill: kill, left: left, match: func(r *http.Request) bool {
					return here && r.Method == method && strings.Contains(r.URL.Path, "/namespaces/test")
				}}
			})
			return config
		}
		in.From, in.To = wrap(in.From, side == "source"), wrap(in.To, side == "target")
		in.TakenOver = gone.Done() // without it, the move would retry for minutes
		return capi.Move(ctx, in)
	}
}

const resumeCluster = `{"spec":{"paused":null}}`

// TestHalfDoneMoves ends each stage by hand, as its hint says.
func TestHalfDoneMoves(t *testing.T) {
	resumeSource := func(s *stage) { s.setPaused(s.Source.Client, resumeCluster) }
	resumeTarget := func(s *stage) { s.setPaused(s.Target.Client, resumeCluster) }
	retryMove := func(s *stage) {
		resumeSource(s)
		if err := capi.Move(s.t.Context(), capi.MoveInput{From: s.Source.Config, To: s.Target.Config,
			Namespace: s.Scope.Namespace}); err != nil {
			s.t.Fatal(err)
		}
	}
	rows := []struct {
		name, side, method string
		after              int64
		stage              pivot.Stage
		hint               string // a part of the command that leads out
		wayOut             func(*stage)
		ends               pivot.Phase
	}{
		{"before the pause", "source", "PATCH", 0, pivot.StageNone, "", nil, pivot.NotStarted},
		{"paused, nothing created", "target", "POST", 0, pivot.StagePaused, "--kubeconfig '/tmp/source.kubeconfig'",
			resumeSource, pivot.NotStarted},
		{"some objects created", "target", "POST", 9, pivot.StageCopying, "clusterctl move", retryMove, pivot.Done},
		// one is marked to go
		{"all objects created", "source", "DELETE", 0, pivot.StageCopied, "--kubeconfig '/tmp/target.kubeconfig'",
			resumeTarget, pivot.Done},
		{"most objects deleted", "source", "DELETE", 17, pivot.StageCopied, "--kubeconfig '/tmp/target.kubeconfig'",
			resumeTarget, pivot.Done},
		// 22 objects are each created with one POST and patched once: the patch after those resumes the target.
		{"all objects deleted", "target", "PATCH", 22, pivot.StageResuming, "--kubeconfig '/tmp/target.kubeconfig'",
			resumeTarget, pivot.Done},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := newStage(t)
			s.Move = cut(row.side, row.method, row.after)
			_, err := pivot.Run(t.Context(), s.Input)
			if fault.CodeOf(err) != fault.PivotFailed {
				t.Fatalf("the move was interrupted, but Run gave %v", err)
			}
			s.checkHalfDone(err, row.stage, row.hint)
			if row.stage == pivot.StageNone {
				return
			}
			row.wayOut(s)
			if state := s.state(); state.Phase != row.ends || state.Stage != pivot.StageNone {
				t.Errorf("the way out ends in %s %s, want %s", state.Phase, state.Stage, row.ends)
			}
		})
	}
}

// checkHalfDone holds the state against the stage.
func (s *stage) checkHalfDone(failure error, want pivot.Stage, hint string) {
	s.t.Helper()
	state := s.state()
	if state.Stage != want {
		s.t.Fatalf("the stage is %q (%s), want %q; the source has %d, the target %d objects\n%v", state.Stage,
			state.Phase, want,
			len(state.Source.Objects), len(state.Target.Objects), failure)
	}
	if want == pivot.StageNone {
		if s.flux.resumed != 1 || !fault.CanRetry(failure) {
			s.t.Errorf("nothing was moved, but Flux was resumed %d times, retry %v", s.flux.resumed,
				fault.CanRetry(failure))
		}
		return
	}
	if s.flux.resumed != 0 {
		s.t.Error("Flux was resumed in the middle of a move")
	}
	if !strings.Contains(fault.HintOf(failure), hint) || !strings.Contains(fault.HintOf(failure), s.BackupDir) {
		s.t.Errorf("the hint is\n%s\nwant it to hold %q and the backup", fault.HintOf(failure), hint)
	}
}
