package container

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	notYet := errors.New("not yet")
	tests := map[string]struct {
		check func(calls int) error
		took  time.Duration // at most
		says  []string      // of the error; none when it succeeds
	}{
		"at once":       {func(int) error { return nil }, 0, nil},
		"after a while": {func(calls int) error { return after(calls, 5, notYet) }, time.Second, nil},
		"never": {func(int) error { return notYet }, time.Minute,
			[]string{"wait for the thing", "not within 1m0s", "not yet"}},
		"ended for ever": {func(int) error { return errEnded }, 0, []string{"wait for the thing", "it has ended"}},
		"succeeds too late": {func(calls int) error { return after(calls, 10_000, notYet) }, time.Minute,
			[]string{"not within 1m0s"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				err := Wait(t.Context(), "the thing", time.Minute, func(context.Context) error {
					calls++
					return tc.check(calls)
				})
				if took := time.Since(began); took > tc.took {
					t.Errorf("took %s, want at most %s", took, tc.took)
				}
				if (err != nil) != (len(tc.says) > 0) {
					t.Fatalf("error %v", err)
				}
				for _, part := range tc.says {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("error does not say %q: %v", part, err)
					}
				}
			})
		})
	}
}

// after returns err for the first calls, and nil from then on.
func after(calls, first int, err error) error {
	if calls <= first {
		return err
	}
	return nil
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := Wait(ctx, "the thing", time.Minute, func(context.Context) error {
			cancel()
			return errors.New("not yet")
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
