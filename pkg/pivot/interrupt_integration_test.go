//go:build integration

package pivot_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// TestInterruptFinishesTheMoveFirst cancels while the first object is being created on the target.
func TestInterruptFinishesTheMoveFirst(t *testing.T) {
	s := newStage(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	to := rest.CopyConfig(s.Target.Config)
	to.Wrap(func(next http.RoundTripper) http.RoundTripper { return interrupter{next, interrupt} })
	s.Target.Config = to
	result, err := pivot.Run(ctx, s.Input)
	if err != nil || len(result.Moved) != len(fixture.ManagementCluster()) {
		t.Fatalf("got %+v, %v, want all moved", result, err)
	}
	if ctx.Err() == nil || s.state().Phase != pivot.Done {
		t.Errorf("interrupted: %v, state %s; want a finished move in spite of an interrupt", ctx.Err(), s.state().Phase)
	}
	said := slices.ContainsFunc(s.lines,
		func(l string) bool { return strings.HasPrefix(l, "interrupted: finishing the move") })
	if !said {
		t.Errorf("nobody said that the move is being finished:\n%s", strings.Join(s.lines, "\n"))
	}
	if _, err := pivot.Run(ctx, s.Input); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that starts interrupted gave %v, want context.Canceled", err)
	}
}

type interrupter struct {
	next      http.RoundTripper
	interrupt context.CancelFunc
}

func (i interrupter) RoundTrip(r *http.Request) (*http.Response, error) {
	// The rules before the move only ask: by dry runs and reviews.
	if r.Method == http.MethodPost && !changesNothing(r) {
		i.interrupt()
	}
	return i.next.RoundTrip(r)
}
