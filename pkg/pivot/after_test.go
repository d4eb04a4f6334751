package pivot

import (
	"testing"
	"time"
)

// What asks something of each object has more time where there are more of them.
func TestWhatFollowsAMoveHasTimeForEachObject(t *testing.T) {
	for objects, want := range map[int]time.Duration{0: 2 * time.Minute, 14: 2*time.Minute + 14*time.Second,
		1200: 22 * time.Minute} {
		if got := afterMoveTimeout(objects); got != want {
			t.Errorf("%d objects: %s, want %s", objects, got, want)
		}
	}
}
