package host

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What is under way when the lab ends may end well: apt would leave packages half installed.
func TestRunLetsProgramsEnd(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for range 500 {
			if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	_, err := Run(ctx, Command{Name: "sh", Dir: dir, Args: []string{"-c", "trap 'touch ended; exit 1' INT; touch begun; while :; do sleep 0.05; done"}})
	if err == nil {
		t.Error("a program that was interrupted gave no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "ended")); err != nil {
		t.Errorf("it was killed: %v", err)
	}
}
