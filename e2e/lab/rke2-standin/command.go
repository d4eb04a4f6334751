package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// call runs a program of the node; what it says goes to the journal. Arguments are visible to everyone on the node:
// they are names of files, never secrets.
func call(ctx context.Context, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
