package runs_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/runs"
)

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// failed is a run that failed, from its first event to its last.
func failed() []event.Event {
	object := func(name, state, message string, waitsFor ...string) *event.Object {
		return &event.Object{Cluster: "bootstrap", Kind: "Kustomization", Namespace: "flux-system", Name: name,
			State: state, Message: message, WaitsFor: waitsFor}
	}
	failure := &event.Failure{Code: "component/stuck", Message: "wait for the components: deadline exceeded",
		Hint: "Look at capi.\nRun it again."}
	events := []event.Event{
		{Type: event.RunStarted, Command: "up", Environment: "./my env/kubeadm-capd"},
		{Type: event.PhaseStarted, Phase: "registry", Title: "registry"},
		{Type: event.PhaseSkipped, Phase: "registry", Title: "registry", Message: "it runs already"},
		{Type: event.PhaseStarted, Phase: "bootstrap-cluster", Title: "bootstrap cluster"},
		{Type: event.PhaseFinished, Phase: "bootstrap-cluster", Title: "bootstrap cluster",
			Elapsed: 14200 * time.Millisecond},
		{Type: event.PhaseStarted, Phase: "components", Title: "components"},
		{Type: event.ObjectChanged, Object: object("capi", "Progressing", "")},
		{Type: event.ObjectChanged, Object: object("cert-manager", "Ready", "")},
		{Type: event.ObjectChanged, Object: object("capi", "Failed", "no such\nimage")},
		{Type: event.ObjectChanged, Object: object("cluster", "Progressing", "", "capi")},
		{Type: event.Warning, Message: "cause: the image is\nnot there"},
		{Type: event.PhaseFailed, Phase: "components", Title: "components", Elapsed: 15 * time.Minute,
			Failure: failure},
		{Type: event.RunFinished, Command: "up", Elapsed: 16 * time.Minute, Failure: failure},
	}
	for i := range events {
		events[i].Time = start().Add(time.Duration(i) * time.Minute)
	}
	return events
}

func unchanged(line string) string { return line }

// keep keeps events in store as a run, after the first began.
func keep(t *testing.T, store runs.Store, events ...event.Event) *runs.Keeper {
	t.Helper()
	k := runs.NewKeeper(store)
	k.Emit(events[0])
	k.Begin(unchanged)
	for _, e := range events[1:] {
		k.Emit(e)
	}
	if err := k.Err(); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestARunIsReadAsItWasKept(t *testing.T) {
	store := runs.Store{Dir: filepath.Join(t.TempDir(), "a", runs.Folder)}
	keep(t, store, failed()...)
	r, err := store.Find("last")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(r.Events) == "" || len(r.Events) != len(failed()) || r.Events[8].Object.Message != "no such\nimage" {
		t.Errorf("the events are %v", r.Events)
	}
	if r.ID != "20260102T030405Z-up-kubeadm-capd" || r.Result != runs.Failed || r.Elapsed != 12*time.Minute ||
		r.Environment != "./my env/kubeadm-capd" {
		t.Errorf("the run is %+v", *r)
	}
	r.Path = "FILE"
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "failed.txt", out.Bytes())
}

func TestOnlyTheUserMayReadARun(t *testing.T) {
	store := runs.Store{Dir: filepath.Join(t.TempDir(), "a", runs.Folder)}
	keep(t, store, failed()...)
	r, err := store.Find("last")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{store.Dir: 0o700, r.Path: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestWhatIsRedactedIsNotInTheFile(t *testing.T) {
	store := runs.Store{Dir: t.TempDir()}
	k := runs.NewKeeper(store)
	hide := func(line string) string { return strings.ReplaceAll(line, "hunter2", "[REDACTED]") }
	k.Emit(event.Event{Time: start(), Type: event.RunStarted, Command: "up", Environment: "x"})
	k.Emit(event.Event{Time: start(), Type: event.Warning, Message: "before: hunter2"})
	k.Begin(hide)
	k.Emit(event.Event{Time: start(), Type: event.RunFinished, Failure: &event.Failure{Message: "after: hunter2"}})
	r, err := store.Find("last")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(r.Path)
	if err != nil || bytes.Contains(content, []byte("hunter2")) || bytes.Count(content, []byte("[REDACTED]")) != 2 {
		t.Errorf("%v: %s", err, content)
	}
}

// Words of the form itself, its times and its states stay, whatever secret is spelled like one.
func TestASecretLikeAWordOfTheFormLeavesTheRunReadable(t *testing.T) {
	for _, secret := range []string{"failure", "true", "2026", "started", "type", "run-finished", "schemaVersion", "1",
		"component/stuck", "Kustomization", `"`, "{", ":"} {
		t.Run(secret, func(t *testing.T) {
			store := runs.Store{Dir: t.TempDir()}
			k := runs.NewKeeper(store)
			events := failed()
			last := &events[len(events)-1]
			last.Failure = &event.Failure{Code: "component/stuck", Message: "the password is " + secret, Retry: true}
			k.Emit(events[0])
			k.Begin(func(text string) string { return strings.ReplaceAll(text, secret, "[REDACTED]") })
			for _, e := range events[1:] {
				k.Emit(e)
			}
			if err := k.Err(); err != nil {
				t.Fatal(err)
			}
			list, err := store.List()
			if err != nil || len(list) != 1 {
				t.Fatalf("%v, %v", list, err)
			}
			r := list[0]
			if r.Result != runs.Failed || r.Command != "up" || !r.Started.Equal(start()) ||
				r.Elapsed != 12*time.Minute || len(r.Events) != len(events) || r.Unreadable != "" {
				t.Fatalf("the run is %+v", r)
			}
			if f := r.Failure; f.Code != "component/stuck" || !f.Retry || f.Message != strings.ReplaceAll(
				"the password is "+secret, secret, "[REDACTED]") {
				t.Errorf("the failure is %+v", *f)
			}
			if o := r.Events[6].Object; o.Kind != "Kustomization" || o.State != "Progressing" {
				t.Errorf("the object is %+v", *o)
			}
		})
	}
}

func TestARefusedRunLeavesNothing(t *testing.T) {
	store := runs.Store{Dir: filepath.Join(t.TempDir(), runs.Folder)}
	k := runs.NewKeeper(store)
	for _, e := range failed() {
		k.Emit(e)
	}
	if _, err := os.Stat(store.Dir); !os.IsNotExist(err) || k.Err() != nil {
		t.Errorf("%v, %v", err, k.Err())
	}
	if list, err := store.List(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestADiskThatTakesNothingStopsNoRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := runs.NewKeeper(runs.Store{Dir: filepath.Join(file, runs.Folder)})
	k.Emit(failed()[0])
	k.Begin(unchanged)
	for _, e := range failed()[1:] {
		k.Emit(e)
	}
	if err := k.Err(); err == nil || !strings.Contains(err.Error(), "keep this run in "+file) {
		t.Errorf("the error is %v", err)
	}
}

func TestTheOldestRunsGo(t *testing.T) {
	store := runs.Store{Dir: t.TempDir()}
	under := keep(t, store, event.Event{Time: start().Add(-time.Hour), Type: event.RunStarted, Command: "down",
		Environment: "x"})
	for i := range runs.Most + 5 {
		begun := event.Event{Time: start().Add(time.Duration(i/2) * time.Second), Type: event.RunStarted, Command: "up",
			Environment: "x"}
		keep(t, store, begun, event.Event{Time: begun.Time, Type: event.RunFinished})
	}
	list, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	// One more than Most: the run under way is the oldest of all, and stays.
	if len(list) != runs.Most+1 || list[0].ID != "20260102T030417Z-up-x" || list[runs.Most].Result != runs.Running {
		t.Errorf("%d runs, the first %s, the last %+v", len(list), list[0].ID, list[len(list)-1])
	}
	under.Emit(event.Event{Time: start(), Type: event.RunFinished})
	if r, err := store.Find("20260102T020405Z-down"); err != nil || r.Result != runs.Done {
		t.Errorf("%+v, %v", r, err)
	}
}

// Old runs that cannot be deleted are reported. The current run is kept all the same, to its end.
func TestAnErrorOfPruningEndsNoRecording(t *testing.T) {
	folder := t.TempDir()
	store, moved := runs.Store{Dir: filepath.Join(folder, "runs")}, runs.Store{Dir: filepath.Join(folder, "moved")}
	var once sync.Once
	k, events := runs.NewKeeper(store), failed()
	k.Emit(events[0])
	k.Begin(func(text string) string { // it runs after the file was created, and before old runs are deleted
		once.Do(func() {
			if err := errors.Join(os.Rename(store.Dir, moved.Dir), os.WriteFile(store.Dir, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		})
		return text
	})
	for _, e := range events[1:] {
		k.Emit(e)
	}
	if err := k.Err(); err == nil || !strings.Contains(err.Error(), "list the kept runs") {
		t.Errorf("error %v", err)
	}
	r, err := moved.Find("last")
	if err != nil || len(r.Events) != len(events) || r.Result != runs.Failed {
		t.Errorf("%+v, %v", r, err)
	}
}

// Many backups take no run of another command away.
func TestEachCommandKeepsItsRuns(t *testing.T) {
	store := runs.Store{Dir: t.TempDir()}
	for i := range runs.Most + 5 {
		for _, command := range []string{"backup", "up", "pivot resume"} {
			if command != "backup" && i > 2 {
				continue
			}
			begun := event.Event{Time: start().Add(time.Duration(i) * time.Minute), Type: event.RunStarted,
				Command: command, Environment: "x"}
			keep(t, store, begun, event.Event{Time: begun.Time, Type: event.RunFinished})
		}
	}
	list, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range list {
		count[r.Command]++
	}
	if count["backup"] != runs.Most || count["up"] != 3 || count["pivot resume"] != 3 {
		t.Errorf("kept: %v", count)
	}
}

func TestFind(t *testing.T) {
	store := runs.Store{Dir: t.TempDir()}
	for i := range 3 {
		keep(t, store, event.Event{Time: start().Add(time.Duration(i/2) * time.Second), Type: event.RunStarted,
			Command: "up", Environment: "x"}, event.Event{Time: start(), Type: event.RunFinished})
	}
	for what, want := range map[string]string{
		"last":                   "20260102T030406Z-up-x",
		"20260102T030405Z-up-x":  "20260102T030405Z-up-x", // exactly this one, although another begins with it
		"20260102T030405Z-up-x-": "20260102T030405Z-up-x-2",
		"20260102T030406":        "20260102T030406Z-up-x",
		"20260102T030405":        "",
		"2025":                   "",
	} {
		r, err := store.Find(what)
		switch {
		case want == "" && fault.CodeOf(err) != fault.RunUnknown:
			t.Errorf("%s: %v", what, err)
		case want != "" && (err != nil || r.ID != want):
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	if _, err := (runs.Store{Dir: filepath.Join(store.Dir, "none")}).Find("last"); fault.CodeOf(
		err) != fault.RunUnknown {
		t.Errorf("of none: %v", err)
	}
}

func TestRead(t *testing.T) {
	const begun = `{"schemaVersion":1,"time":"2026-01-02T03:04:05Z","type":"run-started","command":"up","environment":"x"}` + "\n"
	const finished = `{"schemaVersion":1,"time":"2026-01-02T03:04:06Z","type":"run-finished"}` + "\n"
	for name, tc := range map[string]struct {
		content string
		want    runs.Result // empty: cannot be read
	}{
		"truncated":            {begun, runs.Interrupted},
		"truncated in a line":  {begun + `{"schemaVersion":1,"ti`, runs.Interrupted},
		"finished":             {begun + finished, runs.Done},
		"an answer at its end": {begun + `{"type":"backup","path":"x"}` + "\n", runs.Interrupted},
		"a type that came later": {begun + `{"schemaVersion":1,"type":"sung","object":"all","message":["la"]}` +
			"\n" + finished, runs.Done},
		"one at its end":              {begun + `{"schemaVersion":1,"type":"sung"}` + "\n", runs.Interrupted},
		"one at its beginning":        {`{"schemaVersion":1,"type":"sung"}` + "\n" + begun + finished, runs.Done},
		"one of a newer schema":       {begun + `{"schemaVersion":2,"type":"sung"}` + "\n" + finished, ""},
		"only such":                   {`{"schemaVersion":1,"type":"sung"}` + "\n", ""},
		"no type":                     {begun + `{"schemaVersion":1,"message":"x"}` + "\n" + finished, ""},
		"a known one in another form": {begun + `{"schemaVersion":1,"type":"progress","message":["la"]}` + "\n", ""},
		"empty":                       {"", ""},
		"no JSON":                     {"hello\n", ""},
		"half a line in the middle":   {begun + `{"schemaVersion":1,"ti` + "\n" + begun, ""},
		"a newer schema":              {strings.ReplaceAll(begun, `Version":1`, `Version":2`), ""},
		"no schema":                   {strings.ReplaceAll(begun, `"schemaVersion":1,`, ""), ""},
		"without its beginning":       {finished, ""},
		"an object-changed without it": {begun +
			`{"schemaVersion":1,"time":"2026-01-02T03:04:06Z","type":"object-changed"}` + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.jsonl")
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := runs.Store{}.Find(path)
			switch {
			case tc.want == "" && fault.CodeOf(err) != fault.RunUnreadable:
				t.Errorf("the error is %v", err)
			case tc.want != "" && (err != nil || r.Result != tc.want):
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestAListSaysWhatCannotBeRead(t *testing.T) {
	store := runs.Store{Dir: t.TempDir()}
	keep(t, store, failed()...)
	if err := os.WriteFile(filepath.Join(store.Dir, "20250101T000000Z-up-x.jsonl"), []byte("hello\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	list, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Unreadable = strings.ReplaceAll(list[i].Unreadable, store.Dir, "DIR")
	}
	var out bytes.Buffer
	if err := (runs.List{Runs: list}).Print(&out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "list.txt", out.Bytes())
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"type":"run-started"}` + "\n" +
		`{"schemaVersion":1,"type":"object-changed","object":{}}` + "\n"))
	f.Add([]byte(`{"schemaVersion":1,"type":"run-started"}` + "\n" + `{"schemaVersion":1,"type":"object-changed"}` +
		"\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := runs.Read(path)
		if err != nil {
			return
		}
		if err := r.Print(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	})
}

// Of five runs two count: of the same command and environment, and to their end.
func TestEarlierRuns(t *testing.T) {
	store := runs.Store{Dir: t.TempDir()}
	run := func(command, environment string, minutes int, failure *event.Failure) {
		end := start().Add(time.Duration(minutes) * time.Minute)
		keep(t, store, event.Event{Time: start(), Type: event.RunStarted, Command: command, Environment: environment},
			event.Event{Time: start(), Type: event.PhaseStarted, Phase: "a"},
			event.Event{Time: end, Type: event.PhaseFinished, Phase: "a"},
			event.Event{Time: end, Type: event.RunFinished, Failure: failure})
	}
	run("up", "kubeadm-capd", 4, nil)
	run("up", "kubeadm-capd", 6, nil)
	run("up", "kubeadm-capd", 20, &event.Failure{Code: "x"})
	run("up", "rke2-capd", 30, nil)
	run("down", "kubeadm-capd", 40, nil)
	if err := os.WriteFile(filepath.Join(store.Dir, "20260102T030405Z-broken.jsonl"), []byte("{\n{\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if left := runs.NewKeeper(store).Earlier(event.Event{Command: "up", Environment: "kubeadm-capd"}).Left(
		start()); left != 5*time.Minute {
		t.Errorf("%v left, want 5 minutes", left)
	}
	if left := runs.NewKeeper(runs.Store{Dir: filepath.Join(store.Dir, "none")}).Earlier(
		event.Event{Command: "up", Environment: "kubeadm-capd"}).Left(start()); left != 0 {
		t.Errorf("%v left without an earlier run", left)
	}
}
