package evidence

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// summary writes the file to read first.
func (f *folder) summary(run Run) {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	heading := failedRun
	if run.Err == nil {
		heading = onDemand
	}
	line("%s\n", heading)
	line("command:    %s", run.Command)
	line("version:    %s", run.Version)
	if run.Err != nil {
		line("ran for:    %.1fs", run.Elapsed.Seconds())
		line("exit code:  %d (%s)", run.ExitCode, fault.CodeOf(run.Err))
		line("\nerror: %s", strings.ReplaceAll(run.Err.Error(), "\n", "\n       "))
	}
	for hint := range strings.Lines(fault.HintOf(run.Err)) {
		line("hint:  %s", strings.TrimSpace(hint))
	}
	if causes := chain(run.Err); len(causes) > 1 {
		line("\nThe error and its causes, from the outside in:")
		for _, cause := range causes {
			line("  - %s", strings.ReplaceAll(cause, "\n", "\n    "))
		}
	}
	line("\nFiles. Secrets are replaced by ***, but not names, addresses and what you run: decide who may read them.")
	files := append([]fileEntry{{summaryName, "this file"}}, f.files...)
	width := 0
	for _, file := range files {
		width = max(width, len(file.name))
	}
	for _, file := range files {
		line("  %-*s  %s", width, file.name, file.what)
	}
	if len(f.problems) > 0 {
		line("\nWhat could not be collected:")
		for _, problem := range f.problems {
			line("  - %s", strings.ReplaceAll(problem, "\n", "\n    "))
		}
	}
	f.text(summaryName, "this file", out.String())
}

// chain returns the messages of an error and of all errors that it wraps, each once, with its code if it has one.
func chain(err error) []string {
	var messages []string
	indexes := map[string]int{}
	var walk func(error)
	walk = func(err error) {
		if err == nil {
			return
		}
		message := strings.ReplaceAll(err.Error(), "\n", " | ")
		i, known := indexes[message]
		if !known {
			i = len(messages)
			indexes[message] = i
			messages = append(messages, message)
		}
		f, isFault := err.(*fault.Fault)       //nolint:errorlint // walk visits every error of the tree
		if isFault && messages[i] == message { // the outermost code is the one of the exit code
			messages[i] = fmt.Sprintf("[%s] %s", f.Code, message)
		}
		switch e := err.(type) { //nolint:errorlint // walk visits every error of the tree
		case interface{ Unwrap() []error }:
			for _, cause := range e.Unwrap() {
				walk(cause)
			}
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		}
	}
	walk(err)
	return messages
}
