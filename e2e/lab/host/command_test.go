package host

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What is under way when the lab ends may end well: apt would leave packages half installed.
func TestRunLetsProgramsEnd(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	pipe := filepath.Join(dir, "begun")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	begun, err := os.OpenFile(pipe, os.O_RDWR, 0) // for writing too, so that it opens before the program does
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_, _ = begun.Read(make([]byte, 1)) // the program has begun, or the test closes the pipe
		cancel()
	}()
	_, err = Run(ctx, Command{Name: "sh", Dir: dir, Args: []string{"-c", "trap 'touch ended; exit 1' INT; echo >begun; while :; do sleep 0.05; done"}})
	_ = begun.Close()
	<-heard
	if err == nil {
		t.Error("a program that was interrupted gave no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "ended")); err != nil {
		t.Errorf("it was killed: %v", err)
	}
}
