package render

import (
	"slices"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// A component that waits for all before it is reached by twice as many ways as the one before it: each is looked at
// once.
func TestDepthsOfManyComponents(t *testing.T) {
	components := make([]timeline.Node, 60)
	want := make([]int, len(components))
	for n := range components {
		want[n] = n
		for before := range n {
			components[n].WaitsFor = append(components[n].WaitsFor, before)
		}
	}
	done := make(chan []int, 1)
	go func() { done <- depths(components) }()
	select {
	case got := <-done:
		if !slices.Equal(got, want) {
			t.Errorf("depths %v", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it takes for ever")
	}
}

func TestDepthsOfACircle(t *testing.T) {
	if got := depths([]timeline.Node{{WaitsFor: []int{1}}, {WaitsFor: []int{0}}, {WaitsFor: []int{1}}}); !slices.Equal(
		got, []int{1, 0, 1}) {
		t.Errorf("depths %v", got)
	}
}
