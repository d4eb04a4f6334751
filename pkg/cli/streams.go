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

// unbroken returns streams whose writes succeed even after the reader has gone, as with a killed tee in `up | tee` or
// after a terminal hangup. The context ends at the first such write.
func unbroken(ctx context.Context, s Streams) (context.Context, Streams) {
	// Without a receiver Go ends the process at the first write to a broken pipe. The channel is never read: a broken
	// connection to a server raises the signal too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(ctx)
	s.Out, s.Err = unbrokenWriter{s.Out, cancel}, unbrokenWriter{s.Err, cancel}
	return ctx, s
}

type unbrokenWriter struct {
	io.Writer
	gone func()
}

// Write succeeds if the reader has gone.
func (w unbrokenWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO) {
		w.gone()
		return len(p), nil
	}
	return n, err
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM. The next signal has its default effect.
// finish also ends the context, and returns after the last message.
func interruptible(ctx context.Context, says io.Writer) (_ context.Context, finish func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, finished := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	var listening sync.WaitGroup
	listening.Go(func() {
		defer signal.Stop(signals)
		select {
		case <-signals:
			signal.Stop(signals) // before the message, whose reader may send the second one
			within(func() {
				fmt.Fprintln(says, "interrupted: finishing the current step; press Ctrl-C again to exit at once")
			})
			cancel()
		case <-finished:
		}
	})
	return ctx, sync.OnceFunc(func() { close(finished); listening.Wait(); cancel() })
}

// sayBound limits how long a blocked terminal can delay an interrupt.
const sayBound = time.Second

// within returns when say does, or after sayBound: a terminal may be blocked, for example by Ctrl-S.
func within(say func()) {
	said := make(chan struct{})
	go func() { defer close(said); say() }()
	timer := time.NewTimer(sayBound)
	defer timer.Stop()
	select {
	case <-said:
	case <-timer.C:
	}
}
