package process

import (
	"context"
	"fmt"
	"syscall"
)

// Run runs a program to its end, within ctx. It has a session and a note as a daemon has: when this process is killed,
// the program continues, and the next Run or Stop by that name ends it. The error has the end of its log.
func (f Folder) Run(ctx context.Context, program Daemon) error {
	if _, err := f.Stop(ctx, program.Name); err != nil {
		return err
	}
	cmd, err := f.launch(program)
	if err != nil {
		return fmt.Errorf("run %s: %w", program.Name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its note may not be written yet
		<-ended
		err = ctx.Err()
	}
	// Also the rest of a session whose first process has ended, and the note.
	if _, stopped := f.Stop(context.WithoutCancel(ctx), program.Name); stopped != nil {
		return stopped
	}
	if err != nil {
		return fmt.Errorf("run %s: %w%s", program.Name, err, f.tail(program.Name))
	}
	return nil
}
