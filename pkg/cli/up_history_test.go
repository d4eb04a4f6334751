package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// recount reports the history of objects that were not ready in time; those that wait for nothing else come first.
func TestRecount(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	said := []event.Event{{Time: start, Type: event.RunStarted, Command: "up"}}
	see := func(seconds int, name, state, message string, waitsFor ...string) {
		said = append(said, event.Event{Time: start.Add(time.Duration(seconds) * time.Second),
			Type: event.ObjectChanged,
			Object: &event.Object{Cluster: "bootstrap", Kind: "Kustomization", Name: name, State: state,
				Message: message, WaitsFor: waitsFor}})
	}
	see(1, "capi", "Progressing", "", "cert-manager")
	see(2, "cert-manager", "Progressing", "building\nmanifests")
	see(2, "cni", "Progressing", "")
	see(9, "cni", "Ready", "")
	see(10, "cert-manager", "Progressing", "building\nmanifests")
	for n := range 10 {
		see(20+n, "cert-manager", "Progressing", "health check "+strings.Repeat("i", n))
	}
	stuck := fault.New(fault.ComponentStuck, "stuck", "")
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"a component was not ready in time": {stuck, []string{
			"history of Kustomization/cert-manager: …; at 24s Progressing (health check iiii); at 25s " +
				"Progressing (health check iiiii); at 26s Progressing (health check iiiiii); at 27s Progressing " +
				"(health check iiiiiii); at 28s Progressing (health check iiiiiiii); at 29s Progressing (health check " +
				"iiiiiiiii)",
			"history of Kustomization/capi: at 1s waits for cert-manager"}},
		"another error": {errors.New("no engine"), nil},
	} {
		told := &event.Recorder{}
		recount(told, tc.err, said)
		var got []string
		for _, e := range told.Events() {
			got = append(got, e.Message)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: told\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}
