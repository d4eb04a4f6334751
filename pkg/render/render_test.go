package render_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/render"
)

// views are all views, by the name of their golden file.
func views() map[string]func(io.Writer) event.Sink {
	return map[string]func(io.Writer) event.Sink{
		"plain.txt":         func(w io.Writer) event.Sink { return render.NewPlain(w, false) },
		"plain-verbose.txt": func(w io.Writer) event.Sink { return render.NewPlain(w, true) },
		"json.jsonl":        func(w io.Writer) event.Sink { return render.NewJSON(w) },
		"github.txt":        func(w io.Writer) event.Sink { return render.NewGrouped(w, false, render.GitHub{}) },
		"gitlab.txt":        func(w io.Writer) event.Sink { return render.NewGrouped(w, false, render.GitLab{}) },
	}
}

func TestViewsOfOneRun(t *testing.T) {
	for name, view := range views() {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, name, show(view, run()...))
		})
	}
}

// The sequence must not fall behind the types that exist.
func TestTheRunHasEveryType(t *testing.T) {
	for _, kind := range event.Types() {
		if !slices.ContainsFunc(run(), func(e event.Event) bool { return e.Type == kind }) {
			t.Errorf("no %s in the golden run", kind)
		}
	}
}

func TestPlainSaysNothingTwice(t *testing.T) {
	object := func(state, reason, message string, waitsFor ...string) event.Event {
		return event.Event{Time: start(), Type: event.ObjectChanged, Object: &event.Object{Cluster: "bootstrap",
			Kind: "Kustomization",
			Name: "capi", State: state, Reason: reason, Message: message, WaitsFor: waitsFor}}
	}
	tests := map[string]struct {
		verbose bool
		events  []event.Event
		lines   int
	}{
		"the same state": {false,
			[]event.Event{object("Ready", "", ""), object("Ready", "", "")}, 1},
		"progressing for the first time": {false, []event.Event{object("Progressing", "Building", ""),
			object("Progressing", "", "", "a")}, 0},
		"progressing, verbose": {true, []event.Event{object("Progressing", "Building", "1 of 3"),
			object("Progressing", "Building", "2 of 3")}, 2},
		"the same dependency, another message": {true, []event.Event{object("Progressing", "", "x", "a"),
			object("Progressing", "", "y", "a")}, 1},
		"ready no longer, and again": {false,
			[]event.Event{object("Ready", "", ""), object("Progressing", "Building", ""), object("Ready", "", "")}, 3},
		"ready no longer, another message": {false,
			[]event.Event{object("Ready", "", ""), object("Progressing", "Building", "1 of 3"),
				object("Progressing", "Building", "2 of 3")}, 2},
		"ready no longer, another reason": {false,
			[]event.Event{object("Ready", "", ""), object("Progressing", "Building", ""),
				object("Progressing", "Applying", "")}, 3},
		"deleted, and made again": {false,
			[]event.Event{object("Ready", "", ""), object("Deleted", "", ""), object("Progressing", "", ""),
				object("Ready", "", "")}, 3},
		"another failure": {false, []event.Event{object("Failed", "", "no path"),
			object("Failed", "", "no space")}, 2},
		"another failure that is said the same": {false, []event.Event{object("Failed", "A", "no path"),
			object("Failed", "B", "no path")}, 1},
		"suspended": {false, []event.Event{object("Suspended", "", "")}, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out := show(func(w io.Writer) event.Sink { return render.NewPlain(w, tc.verbose) }, tc.events...)
			if got := bytes.Count(out, []byte("\n")); got != tc.lines {
				t.Errorf("%d lines, want %d:\n%s", got, tc.lines, out)
			}
		})
	}
}

// Two objects of one name are two objects.
func TestPlainTellsObjectsApart(t *testing.T) {
	var events []event.Event
	for _, o := range []event.Object{
		{Cluster: "bootstrap", Kind: "Kustomization", Namespace: "flux-system", Name: "capi", State: "Ready"},
		{Cluster: "management", Kind: "Kustomization", Namespace: "flux-system", Name: "capi", State: "Ready"},
		{Cluster: "management", Kind: "Kustomization", Namespace: "management", Name: "capi", State: "Ready"},
		{Cluster: "management", Kind: "HelmRelease", Namespace: "management", Name: "capi", State: "Ready"},
	} {
		events = append(events, event.Event{Time: start(), Type: event.ObjectChanged, Object: &o})
	}
	out := show(func(w io.Writer) event.Sink { return render.NewPlain(w, false) }, events...)
	if got := bytes.Count(out, []byte("\n")); got != len(events) {
		t.Errorf("%d lines for %d objects:\n%s", got, len(events), out)
	}
}

func TestPlainHeartbeat(t *testing.T) {
	capi := event.Object{Kind: "Kustomization", Name: "capi", State: "Progressing", Message: "not yet"}
	cabpk := event.Object{Kind: "Kustomization", Name: "cabpk", State: "Progressing", Message: "not yet",
		WaitsFor: []string{"cert-manager", "capi"}}
	rest := []event.Object{cabpk, capi, cabpk, cabpk, cabpk, cabpk}
	for want, objects := range map[string][]event.Object{
		"   0.0s    … still waiting for the components\n": nil,
		"   0.0s    … still waiting for the components: Kustomization/capi (not yet), Kustomization/cabpk (waits for " +
			"cert-manager, capi)\n": {cabpk, capi},
		"   0.0s    … still waiting for the components: Kustomization/capi (not yet)" +
			strings.Repeat(", Kustomization/cabpk (waits for cert-manager, capi)", 3) + ", and 2 more\n": rest,
	} {
		e := event.Event{Time: start(), Type: event.Waiting, Message: "the components", Objects: objects}
		if got := string(show(func(w io.Writer) event.Sink { return render.NewPlain(w, false) }, e)); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// Whatever an object or a library says, a line stays a line, and none is endless.
func TestPlainKeepsAMessageOnOneLine(t *testing.T) {
	message := "first\n\tsecond\r\nthird " + strings.Repeat("long ", 200)
	object := event.Object{Cluster: "bootstrap", Kind: "Kustomization", Name: "capi", State: "Failed", Message: message}
	for _, e := range []event.Event{
		{Type: event.Progress, Message: message},
		{Type: event.Warning, Message: message},
		{Type: event.Log, Message: message},
		{Type: event.PhaseSkipped, Title: "registry", Message: message},
		{Type: event.ObjectChanged, Object: &object},
		{Type: event.Waiting, Message: "the components", Objects: []event.Object{object}},
	} {
		e.Time = start()
		out := string(show(func(w io.Writer) event.Sink { return render.NewPlain(w, true) }, e))
		if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") || strings.ContainsAny(out, "\r\t") {
			t.Errorf("%s: not one line: %q", e.Type, out)
		}
		if runes := len([]rune(out)); runes > 320 || !strings.Contains(out, "first second third") {
			t.Errorf("%s: %d characters: %q", e.Type, runes, out)
		}
	}
}

func show(view func(io.Writer) event.Sink, events ...event.Event) []byte {
	var out bytes.Buffer
	sink := view(&out)
	for _, e := range events {
		sink.Emit(e)
	}
	return out.Bytes()
}

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
