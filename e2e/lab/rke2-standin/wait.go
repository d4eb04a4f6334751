package main

import (
	"context"
	"fmt"
	"time"
)

// until tries once a second until try succeeds, at most for bound. The error says what was waited for, and the last
// reason why it was not there.
func until(ctx context.Context, bound time.Duration, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s, at most %s: %w", what, bound, err)
		case <-ticker.C:
		}
	}
}
