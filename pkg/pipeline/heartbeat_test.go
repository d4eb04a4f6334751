package pipeline_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// The times are those of synctest's clock, which stands still while anything runs.
func TestASilentPhaseIsSaidToBeAtWork(t *testing.T) {
	pause := func(d time.Duration) func(pipeline.Reporter) {
		return func(pipeline.Reporter) { <-time.After(d) }
	}
	progress := func(r pipeline.Reporter) { r.Progress("step") }
	log := func(r pipeline.Reporter) { r.Log("line") }
	cases := map[string]struct {
		steps []func(pipeline.Reporter)
		beats []time.Duration // since the phase began
	}{
		"one that is quick": {[]func(pipeline.Reporter){pause(29 * time.Second)}, nil},
		"one that is silent": {[]func(pipeline.Reporter){pause(70 * time.Second)},
			[]time.Duration{30 * time.Second, 60 * time.Second}},
		"one that tells": {[]func(pipeline.Reporter){pause(20 * time.Second), progress,
			pause(20 * time.Second)}, nil},
		"one that fell silent": {[]func(pipeline.Reporter){pause(20 * time.Second), progress,
			pause(35 * time.Second)}, []time.Duration{50 * time.Second}},
		"one whose library only talks": {[]func(pipeline.Reporter){pause(20 * time.Second), log,
			pause(20 * time.Second)}, []time.Duration{30 * time.Second}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var recorder event.Recorder
				start := time.Now()
				phase := pipeline.Phase{Name: "a", Title: "the phase",
					Run: func(_ context.Context, r pipeline.Reporter) error {
						for _, step := range tc.steps {
							step(r)
							synctest.Wait()
						}
						return nil
					}}
				if err := (pipeline.Runner{Sink: &recorder, Now: time.Now, Heartbeat: 30 * time.Second}).Run(
					t.Context(), []pipeline.Phase{phase}); err != nil {
					t.Fatal(err)
				}
				var beats []time.Duration
				for _, e := range recorder.Events() {
					if e.Type == event.Waiting {
						beats = append(beats, e.Time.Sub(start))
						if e.Message != "the phase" || e.Phase != "a" {
							t.Errorf("the heartbeat says %+v", e)
						}
					}
				}
				if !slices.Equal(beats, tc.beats) {
					t.Errorf("beats at %v, want %v", beats, tc.beats)
				}
				if last := recorder.Events()[len(recorder.Events())-1]; last.Type != event.PhaseFinished {
					t.Errorf("the last event is %s", last.Type)
				}
			})
		})
	}
}
