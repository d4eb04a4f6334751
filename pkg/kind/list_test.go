package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An engine that takes a connection and says nothing does not hang who asks it: the wait ends with its context.
func TestExistsEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	silent := "#!/bin/sh\nexec sleep 30\n"
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(silent), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := New(func(string) {}).Exists(ctx, "demo"); !errors.Is(err, context.DeadlineExceeded) ||
		time.Since(began) > 20*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if _, err := New(func(string) {}).Kubeconfig(ctx, "demo"); !errors.Is(err, context.DeadlineExceeded) ||
		time.Since(began) > 20*time.Second {
		t.Errorf("the kubeconfig, after %s: %v", time.Since(began), err)
	}
}
