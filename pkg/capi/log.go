package capi

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	clusterctllog "sigs.k8s.io/cluster-api/cmd/clusterctl/log"
)

// lineSink passes each log entry on as one line of text.
type lineSink struct {
	write  func(string)
	values []any
}

// logTo makes clusterctl log to write, and returns what silences it again. clusterctl has only one logger per process:
// only this code sets it.
func logTo(write func(string)) (restore func()) {
	clusterctllog.SetLogger(logr.New(lineSink{write: write}))
	return func() { clusterctllog.SetLogger(logr.Discard()) }
}

// oneAtATime returns a function that passes lines to write, if set, never two at once: clusterctl logs from its own
// goroutine.
func oneAtATime(write func(string)) func(string) {
	if write == nil {
		return func(string) {}
	}
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		write(line)
	}
}

// Init does nothing.
func (lineSink) Init(logr.RuntimeInfo) {}

// Enabled accepts the levels 0 and 1: progress, and each object. Level 5 is clusterctl's debugging.
func (lineSink) Enabled(level int) bool { return level <= 1 }

// Info passes the entry on.
func (s lineSink) Info(_ int, message string, values ...any) {
	s.write(message + pairs(append(s.values[:len(s.values):len(s.values)], values...)))
}

// Error passes the entry on with its error.
func (s lineSink) Error(err error, message string, values ...any) {
	s.Info(0, fmt.Sprintf("%s: %v", message, err), values...)
}

// WithValues returns a sink that adds values to each line.
func (s lineSink) WithValues(values ...any) logr.LogSink {
	s.values = append(s.values[:len(s.values):len(s.values)], values...)
	return s
}

// WithName returns the sink as it is: clusterctl's names do not help a reader.
func (s lineSink) WithName(string) logr.LogSink { return s }

func pairs(values []any) string {
	var b strings.Builder
	for i := 0; i+1 < len(values); i += 2 {
		fmt.Fprintf(&b, " %v=%v", values[i], values[i+1])
	}
	return b.String()
}
