package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestBecomePartOnlyOnce(t *testing.T) {
	p := paths{root: t.TempDir()}
	tries := 0
	attempt := func(context.Context) error { tries++; return nil }
	for range 2 {
		if err := becomePart(context.Background(), p, attempt); err != nil {
			t.Fatal(err)
		}
	}
	if tries != 1 || !exists(p.joined()) {
		t.Errorf("%d attempts", tries)
	}
}

func TestUntilSaysWhatItWaitedFor(t *testing.T) {
	reason := errors.New("not yet")
	err := until(context.Background(), time.Millisecond, "the sun", func(context.Context) error { return reason })
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), "the sun, at most 1ms") {
		t.Errorf("got %v", err)
	}
}
