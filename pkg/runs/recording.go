package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/timeline"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// Result is how a run ended, or that it still runs.
type Result string

// The results of runs.
const (
	Done        Result = "done"
	Failed      Result = "failed"
	Running     Result = "running"     // its process still runs
	Interrupted Result = "interrupted" // its last event is missing, and no process holds its lock
	Unreadable  Result = "unreadable"  // the file cannot be read
)

// Recording is a run that was kept.
type Recording struct {
	ID          string         `json:"id,omitempty"`
	Path        string         `json:"path"`
	Command     string         `json:"command,omitempty"`
	Environment string         `json:"environment,omitempty"`
	Started     time.Time      `json:"started,omitzero"`
	Elapsed     time.Duration  `json:"elapsedNanoseconds,omitempty"` // to its last event
	Result      Result         `json:"result"`
	Failure     *event.Failure `json:"failure,omitempty"`
	Unreadable  string         `json:"unreadable,omitempty"` // why it cannot be read

	Events []event.Event `json:"-"`
}

// mostOfRun is the maximum size of a recording in bytes. A day of events has less.
const mostOfRun = 256 << 20

// Content reads the events in the file path as they are. Its errors have the code fault.RunUnreadable.
func Content(path string) ([]byte, error) {
	content, err := unpack.File(path, mostOfRun)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read a run: %w", err), fault.RunUnreadable, hintShape)
	}
	return content, nil
}

// Read reads the run in the file path. Its errors have the code fault.RunUnreadable.
func Read(path string) (*Recording, error) {
	content, err := Content(path)
	if err != nil {
		return nil, err
	}
	r := &Recording{Path: path}
	if r.Events, err = decode(path, content); err != nil {
		return nil, err
	}
	running, err := isLocked(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.RunUnreadable, hintShape)
	}
	r.conclude(running)
	return r, nil
}

// Timeline returns the timeline of the events of the run.
func (r Recording) Timeline() timeline.Timeline { return timeline.Of(r.Events) }

const hintForm = "Give a file that \"cluster-init runs export\" or --output json wrote: one event per line."

// decode reads one event per line. It drops an incomplete last line, which a killed run can leave.
func decode(path string, content []byte) ([]event.Event, error) {
	var events []event.Event
	lines := bytes.Split(bytes.TrimRight(content, "\n"), []byte("\n"))
	for n, line := range lines {
		e, err := decodeLine(line, fmt.Sprintf("%s, line %d", path, n+1))
		if err != nil && n == len(lines)-1 && !json.Valid(line) {
			break
		}
		if err != nil {
			return nil, err
		}
		if e != nil {
			events = append(events, *e)
		}
	}
	if len(events) == 0 || events[0].Type != event.RunStarted {
		return nil, fault.New(fault.RunUnreadable, path+" does not begin with the event that begins a run", hintForm)
	}
	return events, nil
}

// decodeLine reads an event. Nil means that the line is not an event, or is an event of a later type. Unknown types are
// ignored because a later version with other meanings has another schema version.
func decodeLine(line []byte, where string) (*event.Event, error) {
	var form struct {
		SchemaVersion int        `json:"schemaVersion"`
		Type          event.Type `json:"type"`
	}
	if err := json.Unmarshal(line, &form); err != nil {
		return nil, fault.Wrap(fmt.Errorf("read %s: %w", where, err), fault.RunUnreadable, hintForm)
	}
	unknown := form.Type != "" && !known(form.Type)
	switch {
	case unknown && form.SchemaVersion == 0: // a line of --output json that is not an event, such as a plan
		return nil, nil
	case form.SchemaVersion != event.SchemaVersion:
		return nil, fault.New(fault.RunUnreadable,
			fmt.Sprintf("%s has events of schema version %d, and this binary reads version %d", where,
				form.SchemaVersion, event.SchemaVersion),
			"Use the version of cluster-init that wrote it.")
	case unknown:
		return nil, nil
	}
	var e event.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fault.Wrap(fmt.Errorf("read %s: %w", where, err), fault.RunUnreadable, hintForm)
	}
	if e.Type == "" || e.Type == event.ObjectChanged && e.Object == nil {
		return nil, fault.New(fault.RunUnreadable, fmt.Sprintf("%s is no event: type %q", where, e.Type), hintForm)
	}
	e = e.Clean(oneline.Lines) // the file may come from elsewhere
	e.Title = oneline.Of(e.Title, 0)
	return &e, nil
}

func known(t event.Type) bool { return slices.Contains(event.Types(), t) }

// conclude derives the result of the run from its events.
func (r *Recording) conclude(running bool) {
	first, last := r.Events[0], r.Events[len(r.Events)-1]
	r.Command, r.Environment, r.Started = first.Command, first.Environment, first.Time
	r.Elapsed = last.Time.Sub(first.Time)
	switch {
	case last.Type == event.RunFinished && last.Failure == nil:
		r.Result = Done
	case last.Type == event.RunFinished:
		r.Result, r.Failure = Failed, last.Failure
	case running:
		r.Result = Running
	default:
		r.Result = Interrupted
	}
}

// isLocked reports whether the process of a run still runs. It takes the lock for a moment, which is safe: the process
// of the run holds it from the beginning.
func isLocked(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close() // releases the lock
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for the lock of %s: %w", path, err)
	}
	return false, nil
}
