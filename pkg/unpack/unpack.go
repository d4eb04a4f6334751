// Package unpack reads untrusted archives within bounds: a small file may unpack to a huge one.
package unpack

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
)

// Limits bound the content of an archive.
type Limits struct {
	Entries int   // of any type
	Total   int64 // bytes, all entries together
	Ratio   int64 // bytes out for each byte in; 0: no limit
}

// ErrTooLarge is in each error about a limit.
var ErrTooLarge = errors.New("too large")

// free is how many bytes are allowed whatever the ratio: a short text compresses well.
const free = 16 << 20

// Reader reads the content of an archive, for one goroutine.
type Reader struct {
	limits  Limits
	in, out int64
	source  io.Reader
	plain   io.Reader
	close   func()
}

// New returns a Reader of the result of decompress. A nil decompress means that source is not compressed. Close of the
// Reader releases the decompressor.
func New(source io.Reader, limits Limits, decompress func(io.Reader) (io.Reader, func(), error)) (*Reader, error) {
	r := &Reader{limits: limits, source: source, close: func() {}}
	counted := counter{r}
	if decompress == nil {
		r.plain = counted
		return r, nil
	}
	plain, closes, err := decompress(counted)
	if err != nil {
		return nil, err
	}
	if closes != nil {
		r.close = closes
	}
	r.plain = plain
	return r, nil
}

// Close releases the decompressor.
func (r *Reader) Close() { r.close() }

// counter counts the bytes that are read from the archive.
type counter struct{ r *Reader }

// Read reads from the archive.
func (c counter) Read(p []byte) (int, error) {
	n, err := c.r.source.Read(p)
	c.r.in += int64(n)
	return n, err
}

// Read reads the content. It fails as soon as that exceeds the limits.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.plain.Read(p)
	r.out += int64(n)
	switch {
	case r.out > r.limits.Total:
		return 0, fmt.Errorf("%w: it unpacks to more than %d bytes", ErrTooLarge, r.limits.Total)
	case r.limits.Ratio > 0 && r.out > free+r.in*r.limits.Ratio:
		return 0, fmt.Errorf("%w: it unpacks to more than %d times its size", ErrTooLarge, r.limits.Ratio)
	}
	return n, err
}

// Stop ends Tar without an error if each returns it.
var Stop = errors.New("stop reading the archive") //nolint:revive // no failure, like fs.SkipAll

// Tar calls each for every entry of a tar archive, with its content, until each returns an error.
func (r *Reader) Tar(each func(header *tar.Header, content io.Reader) error) error {
	archive := tar.NewReader(r)
	for entries := 1; ; entries++ {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case entries > r.limits.Entries:
			return fmt.Errorf("%w: it has more than %d entries", ErrTooLarge, r.limits.Entries)
		}
		if err := each(header, archive); err != nil {
			if errors.Is(err, Stop) {
				return nil
			}
			return err
		}
	}
}
