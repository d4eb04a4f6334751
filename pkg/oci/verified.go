package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// corruptError is a blob whose content does not match its digest.
type corruptError struct{ want, got string }

// Error names the blob.
func (e *corruptError) Error() string {
	return fmt.Sprintf("blob %s is corrupt: it has hash %s", e.want, e.got)
}

// IsCorrupt reports whether err is about a blob of a Verified image whose content does not match its digest.
func IsCorrupt(err error) bool {
	_, ok := errors.AsType[*corruptError](err)
	return ok
}

// Verified wraps an image so that reading a layer to its end fails if its bytes do not match its digest. read, if not
// nil, is called with the number of bytes read, from several goroutines at once.
func Verified(img v1.Image, read func(n int)) v1.Image {
	if read == nil {
		read = func(int) {}
	}
	return &verifiedImage{img, read} // a pointer, as images are keys of maps
}

type verifiedImage struct {
	v1.Image
	read func(int)
}

// Layers are the image's layers, each verified as it is read.
func (i *verifiedImage) Layers() ([]v1.Layer, error) {
	layers, err := i.Image.Layers()
	if err != nil {
		return nil, err
	}
	checked := make([]v1.Layer, len(layers))
	for n, l := range layers {
		checked[n] = &verifiedLayer{l, i.read}
	}
	return checked, nil
}

type verifiedLayer struct {
	v1.Layer
	read func(int)
}

// Compressed returns the layer's bytes. Reading to the end fails if they are wrong.
func (l *verifiedLayer) Compressed() (io.ReadCloser, error) {
	digest, err := l.Digest()
	if err != nil {
		return nil, err
	}
	r, err := l.Layer.Compressed()
	if err != nil {
		return nil, err
	}
	return &verifiedReader{ReadCloser: r, hash: sha256.New(), want: digest, read: l.read}, nil
}

type verifiedReader struct {
	io.ReadCloser
	hash hash.Hash
	want v1.Hash
	read func(int)
}

// Read hashes the bytes.
func (r *verifiedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.hash.Write(p[:n])
	r.read(n)
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(r.hash.Sum(nil)); got != r.want.Hex {
			return n, &corruptError{want: r.want.String(), got: "sha256:" + got}
		}
	}
	return n, err
}
