package rollout

import (
	"testing"
	"time"
)

// An API server that is gone ends the wait of every follower within about a minute.
func TestEveryFollowerHasABoundOnSilence(t *testing.T) {
	if got := NewFollower(nil, Options{}).silence; got != MaxSilence || got <= 0 || got > time.Minute {
		t.Errorf("a follower waits %v for an API server that gives no answer", got)
	}
}
