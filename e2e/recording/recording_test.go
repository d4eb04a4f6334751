package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// A line that scrolled by stays, a line of the block is shown only in its time, and text of others is only text.
func TestARunBecomesAPicture(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(s int, e event.Event) event.Event {
		e.Time = began.Add(time.Duration(s) * time.Second)
		return e
	}
	object := func(state string) event.Event {
		return event.Event{Type: event.ObjectChanged, Object: &event.Object{Cluster: "bootstrap", Kind: "Machine",
			Namespace: "m", Name: "demo-cp", State: state, Message: "</text><script>"}}
	}
	soonAfter := after(5, object("Failed")) // less than an instant of the picture
	soonAfter.Time = soonAfter.Time.Add(20 * time.Millisecond)
	var out bytes.Buffer
	if err := draw(&out, play([]event.Event{
		after(0, event.Event{Type: event.RunStarted, Command: "up", Environment: "demo"}),
		after(1, event.Event{Type: event.PhaseStarted, Phase: "images", Title: "images"}),
		after(5, object("Progressing")),
		soonAfter,
		after(9, object("Ready")),
		after(60, event.Event{Type: event.PhaseFinished, Phase: "images", Title: "images", Elapsed: time.Minute}),
		after(61, event.Event{Type: event.RunFinished, Elapsed: 61 * time.Second}),
	})); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	elements := map[string]int{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v\n%s", err, out.String())
		}
		if start, is := token.(xml.StartElement); is {
			elements[start.Name.Local]++
		}
	}
	if strings.Contains(out.String(), `dur="0.00s"`) {
		t.Errorf("a row is shown for ever, because its duration is zero:\n%s", out.String())
	}
	if elements["text"] < 3 || elements["set"] < 2 || elements["script"] > 0 {
		t.Errorf("the picture has %v\n%s", elements, out.String())
	}
	for line := range strings.Lines(out.String()) {
		hidden := strings.Contains(line, `visibility="hidden"`)
		if strings.Contains(line, "✓ images") && hidden || strings.Contains(line, "● images") && !hidden {
			t.Errorf("at the end this is seen, or not: %s", line)
		}
	}
}
