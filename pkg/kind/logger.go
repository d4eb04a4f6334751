package kind

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kind/pkg/log"
)

// logger passes kind's messages to a function. It is no terminal, so kind shows no spinner.
type logger struct{ line func(string) }

var _ log.Logger = logger{}

func (l logger) emit(s string) {
	if s = strings.TrimSpace(s); s != "" {
		l.line(s)
	}
}

// Warn takes a warning.
func (l logger) Warn(s string) { l.emit(s) }

// Warnf takes a formatted warning.
func (l logger) Warnf(f string, a ...any) { l.emit(fmt.Sprintf(f, a...)) }

// Error takes an error message.
func (l logger) Error(s string) { l.emit(s) }

// Errorf takes a formatted error message.
func (l logger) Errorf(f string, a ...any) { l.emit(fmt.Sprintf(f, a...)) }

// V accepts kind's messages for users, and drops its debug levels.
func (l logger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return info{l}
}

type info struct{ logger }

// Info takes a message.
func (i info) Info(s string) { i.emit(s) }

// Infof takes a formatted message.
func (i info) Infof(f string, a ...any) { i.emit(fmt.Sprintf(f, a...)) }

// Enabled is always true.
func (i info) Enabled() bool { return true }
