package capi

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// An interrupt lets a move go on; that another run has taken over stops it, be it after an interrupt.
func TestAMoveIsStoppedByATakeoverAlone(t *testing.T) {
	for name, interrupted := range map[string]bool{"at work": false, "after an interrupt": true} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			moving, stop := context.WithCancel(context.WithoutCancel(ctx))
			takenOver, done := make(chan struct{}), make(chan error, 1)
			var said []string
			in := MoveInput{TakenOver: takenOver, Log: func(line string) {
				said = append(said, line)
				if moving.Err() == nil && len(said) == 1 && interrupted {
					close(takenOver) // only after the interrupt was seen
				}
			}}
			if interrupted {
				interrupt()
			} else {
				close(takenOver)
			}
			cutOff := errors.New("interrupted")
			go func() {
				<-moving.Done()
				done <- cutOff
			}()
			if err := in.await(ctx, stop, done); !errors.Is(err, cutOff) {
				t.Errorf("it returns %v", err)
			}
			if !slices.Contains(said, "another run has taken over: stopping") || len(said) != 1 != interrupted {
				t.Errorf("it says %v", said)
			}
		})
	}
}
