package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// unbroken returns streams that can be written to also when nobody reads them any more, and a context that ends when
// that is seen: as with `up | tee`, whose tee was killed, or a terminal that hung up.
func unbroken(ctx context.Context, s Streams) (context.Context, Streams) {
	// Without a receiver Go ends the process at the first write to a broken pipe. Nobody reads from the channel: a
	// broken connection to a server raises the signal too, so it says nothing of the streams.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(ctx)
	s.Out, s.Err = unbrokenWriter{s.Out, cancel}, unbrokenWriter{s.Err, cancel}
	return ctx, s
}

type unbrokenWriter struct {
	io.Writer
	gone func()
}

// Write fails for other reasons only than that the reader is gone.
func (w unbrokenWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO) {
		w.gone()
		return len(p), nil
	}
	return n, err
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM; from then on the next one has its default
// effect. finish ends it too, and returns when nothing will be said any more.
func interruptible(ctx context.Context, says io.Writer) (_ context.Context, finish func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, finished := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	var listening sync.WaitGroup
	listening.Go(func() {
		defer signal.Stop(signals)
		select {
		case <-signals:
			signal.Stop(signals) // before it says so: who reads it may send the second one
			within(sayBound, func() {
				fmt.Fprintln(says, "interrupted: ending what is under way; once more (Ctrl-C) exits at once")
			})
			cancel()
		case <-finished:
		}
	})
	return ctx, sync.OnceFunc(func() { close(finished); listening.Wait(); cancel() })
}

// sayBound is how long a terminal may keep an interrupt from taking effect.
const sayBound = time.Second

// within returns when say does, or after a bound: a terminal that takes nothing, as after Ctrl-S, is left to the end of
// the process.
func within(bound time.Duration, say func()) {
	said := make(chan struct{})
	go func() { defer close(said); say() }()
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-said:
	case <-timer.C:
	}
}
