package cli

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// failingWriter fails with an error as a file gives it.
type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: w.err}
}

// A reader that is gone ends what may be ended, and is no error to who writes: a pipe is broken, a terminal that hung
// up answers EIO.
func TestAReaderThatIsGoneIsNoError(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		gone bool
	}{
		"a broken pipe":               {syscall.EPIPE, true},
		"a terminal that hung up":     {syscall.EIO, true},
		"a disk that is full":         {syscall.ENOSPC, false},
		"a file that was closed here": {os.ErrClosed, false},
	} {
		t.Run(name, func(t *testing.T) {
			gone := false
			n, err := unbrokenWriter{failingWriter{tc.err}, func() { gone = true }}.Write([]byte("line\n"))
			if gone != tc.gone || tc.gone != (err == nil) || tc.gone && n != 5 || !tc.gone && !errors.Is(err, tc.err) {
				t.Errorf("gone %v, %d bytes, %v", gone, n, err)
			}
		})
	}
}
