package rollout

import (
	"testing"
	"time"
)

// An API server that is gone ends the wait of every follower within a minute: the last question is asked when the time
// is over, and may hang.
func TestEveryFollowerHasABoundOnSilence(t *testing.T) {
	got := NewFollower(nil, Options{}).silence
	if end := got + 2*got/questions; got != MaxSilence || got <= 0 || end > time.Minute {
		t.Errorf("a follower waits %v for an API server that gives no answer, and ends after %v", got, end)
	}
}
