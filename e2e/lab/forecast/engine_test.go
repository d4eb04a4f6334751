package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An engine that hangs must not hold up `make up`, and is not one that is missing.
func TestHasEngine(t *testing.T) {
	for name, tc := range map[string]struct {
		docker string // what the program does; empty: there is none
		bound  time.Duration
		has    bool
		err    error
	}{
		"it answers":          {"exit 0", time.Minute, true, nil},
		"it refuses":          {"exit 1", time.Minute, false, nil},
		"there is no program": {"", time.Minute, false, nil},
		"it never answers":    {"exec /bin/sleep 600", 100 * time.Millisecond, false, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			if tc.docker != "" {
				if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+tc.docker+"\n"),
					0o700); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if has, err := hasEngine(ctx, tc.bound); has != tc.has || !errors.Is(err, tc.err) {
				t.Errorf("%v, %v", has, err)
			}
			if ctx.Err() != nil {
				t.Error("it did not end by its own bound")
			}
		})
	}
}
