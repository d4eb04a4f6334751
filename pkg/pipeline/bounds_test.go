package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

func TestWithBounds(t *testing.T) {
	phases := []pipeline.Phase{{Name: "images", Timeout: time.Minute}, {Name: "pivot", Timeout: time.Minute},
		{Name: "definition", Timeout: time.Hour}}
	bounded, err := pipeline.WithBounds(phases, map[string]time.Duration{"images": time.Hour, "definition": 0})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{time.Hour, time.Minute, 0} {
		if got := bounded[i].Timeout; got != want {
			t.Errorf("%s has the bound %s, want %s", bounded[i].Name, got, want)
		}
	}
	if phases[0].Timeout != time.Minute {
		t.Error("the phases that were given have changed")
	}
	_, err = pipeline.WithBounds(phases, map[string]time.Duration{"image": time.Hour, "pivto": time.Hour})
	if fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), "no phase image, pivto") ||
		!strings.Contains(fault.HintOf(err), "images, pivot, definition") {
		t.Errorf("%v (hint: %s)", err, fault.HintOf(err))
	}
}
