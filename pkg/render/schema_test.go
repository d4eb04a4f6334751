package render_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/render"
)

func TestEventsHoldToTheSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/reference/events.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	line := func(e event.Event) any {
		t.Helper()
		value, err := jsonschema.UnmarshalJSON(
			bytes.NewReader(show(func(w io.Writer) event.Sink { return render.NewJSON(w) }, e)))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, e := range run() {
		if e.Type == event.RunStarted && e.Environment == "" {
			continue
		}
		if err := schema.Validate(line(e)); err != nil {
			t.Errorf("%s: %v", e.Type, err)
		}
	}
	for name, e := range map[string]event.Event{
		"a type that is none":        {Type: "sung", Message: "x"},
		"a change of no object":      {Type: event.ObjectChanged},
		"a phase without a name":     {Type: event.PhaseStarted},
		"a failure that is not told": {Type: event.PhaseFailed, Phase: "x", Title: "x"},
		"an object in no cluster": {Type: event.ObjectChanged, Object: &event.Object{Kind: "Pod", Name: "x",
			State: "Ready"}},
		"an object in no known state": {Type: event.ObjectChanged, Object: &event.Object{Cluster: "bootstrap",
			Kind: "Pod", Name: "x", State: "Sad"}},
		"a wait for nothing in detail": {Type: event.Waiting},
	} {
		if err := schema.Validate(line(e)); err == nil {
			t.Errorf("%s holds to the schema", name)
		}
	}
}

// The page for users names every type and every field.
func TestThePageOfEventsIsWhole(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range event.Types() {
		if !strings.Contains(string(page), "\n| `"+string(kind)+"` |") {
			t.Errorf("docs/reference/events.md has no line for %s", kind)
		}
	}
}
