package event_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// fill sets every text of a value to the secret.
func fill(v reflect.Value, secret string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(secret)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), secret)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), secret)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"url": secret}))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), secret)
		}
	}
}

// The secret is a word of ours, too: only where that is one of ours it stays. Of the event that is given nothing
// changes.
func TestCleanTakesSecretsOutOfTextsAlone(t *testing.T) {
	const secret = "phase-finished"
	redact := func(text string) string { return strings.ReplaceAll(text, secret, "***") }
	var e event.Event
	fill(reflect.ValueOf(&e).Elem(), secret)
	before, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	clean, err := json.Marshal(e.Clean(redact))
	if err != nil {
		t.Fatal(err)
	}
	ours := `"type":"phase-finished","command":"phase-finished","environment":"***","phase":"phase-finished","title":"phase-finished","message":"***","delay":{"objects":["***"],"nanoseconds":0},"ahead":["phase-finished"],` +
		`"object":{"cluster":"phase-finished","kind":"phase-finished","namespace":"***","name":"***","state":"phase-finished","reason":"***","message":"***","waitsFor":["***"]}`
	if !strings.Contains(string(clean), ours) || strings.Count(string(clean), secret) != 5+2*3+1 {
		t.Errorf("clean:\n%s", clean)
	}
	if after, _ := json.Marshal(e); string(after) != string(before) {
		t.Errorf("the event itself has changed:\n%s", after)
	}
	if got := (event.Event{Type: event.Progress}).Clean(redact); !reflect.DeepEqual(
		got, event.Event{Type: event.Progress}) {
		t.Errorf("of nothing it makes %+v", got)
	}
}
