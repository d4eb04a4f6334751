package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Command is one call of a program on the host.
type Command struct {
	Name  string
	Args  []string
	Dir   string   // working directory; the current one when empty
	Env   []string // added to the environment of this process
	Stdin []byte
}

// endTime is how long a program has to end when it is asked to.
const endTime = time.Minute

// Run calls the program and returns what it wrote to stdout. The error carries the beginning and the end of what it
// wrote.
func Run(ctx context.Context, command Command) (string, error) {
	cmd := exec.CommandContext(ctx, command.Name, command.Args...)
	// Asked to end, apt finishes the package that it is at and mmdebstrap removes what it has made. Killed at once, the
	// one leaves packages half installed, the other a root file system in /tmp.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endTime
	cmd.Dir = command.Dir
	cmd.Env = append(os.Environ(), command.Env...)
	if command.Stdin != nil {
		cmd.Stdin = bytes.NewReader(command.Stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return stdout.String(), fmt.Errorf("%s: %w%s", describe(command), err, excerpt(stderr.String()+stdout.String()))
	}
	return stdout.String(), nil
}

// describe names a command in an error without all of its arguments.
func describe(command Command) string {
	words := append([]string{command.Name}, command.Args...)
	if len(words) > 6 {
		words = append(words[:6:6], "...")
	}
	return strings.Join(words, " ")
}

// What is kept of a long output. Compilers say first what is wrong, and then what of it could not be made.
const headLines, tailLines = 10, 15

// excerpt returns the first and the last lines of a command's output, indented below the error.
func excerpt(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	if left := len(lines) - headLines - tailLines; left > 1 {
		lines = slices.Concat(lines[:headLines], []string{fmt.Sprintf("... %d lines left out", left)},
			lines[len(lines)-tailLines:])
	}
	return "\n  | " + strings.Join(lines, "\n  | ")
}
