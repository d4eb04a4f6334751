package pivot_test

import "context"

// fakeFlux counts the calls to Flux, and fails where the test wants it to.
type fakeFlux struct {
	suspended, resumed int
	suspendErr         error
	resumeErr          error
	onSuspend          func()
	stands             bool // a pivot was begun
}

func (f *fakeFlux) Stands(context.Context) (bool, error) { return f.stands, nil }

func (f *fakeFlux) Suspend(context.Context) error {
	f.suspended++
	if f.onSuspend != nil {
		f.onSuspend()
	}
	return f.suspendErr
}

func (f *fakeFlux) Resume(ctx context.Context) error {
	f.resumed++
	if ctx.Err() != nil {
		return ctx.Err() // what was suspended must be resumed even when the user has interrupted
	}
	return f.resumeErr
}
