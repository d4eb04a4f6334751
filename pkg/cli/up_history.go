package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// How many histories and changes recount reports. --report has all.
const (
	mostHistories = 3
	mostChanges   = 6
)

// recount reports the history of objects that were not ready when a component was stuck or a timeout ended the run.
// Objects that wait for nothing else come first.
func recount(sink event.Sink, err error, said []event.Event) {
	if code := fault.CodeOf(err); code != fault.ComponentStuck && code != fault.Timeout {
		return
	}
	t := timeline.Of(said)
	unready := slices.DeleteFunc(slices.Clone(t.Histories),
		func(h timeline.History) bool { return h.Object.State == "Ready" || h.Object.State == "Deleted" })
	slices.SortStableFunc(unready, func(a, b timeline.History) int {
		return len(a.Object.WaitsFor) - len(
			b.Object.WaitsFor)
	})
	for _, h := range unready[:min(mostHistories, len(unready))] {
		sink.Emit(event.Event{Time: time.Now(), Type: event.Progress, Message: "history of " + h.Object.Kind +
			"/" + h.Object.Name + ": " + history(h, t.Start)})
	}
}

// history returns the state changes of an object, with the time since the run began.
func history(h timeline.History, start time.Time) string {
	var parts []string
	last := ""
	for _, c := range h.Changes {
		text := c.Object.State
		switch {
		case len(c.Object.WaitsFor) > 0:
			text = "waits for " + strings.Join(c.Object.WaitsFor, ", ")
		case c.Object.Message != "":
			text += " (" + oneline.Ends(c.Object.Message, 120) + ")"
		}
		if text != last {
			parts = append(parts, "at "+c.Time.Sub(start).Round(time.Second).String()+" "+text)
		}
		last = text
	}
	if left := len(parts) - mostChanges; left > 0 {
		parts = append([]string{"…"}, parts[left:]...)
	}
	return strings.Join(parts, "; ")
}
