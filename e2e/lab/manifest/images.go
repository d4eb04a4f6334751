package manifest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// reference finds images of containers, and those in an argument that makes a controller start them.
var reference = regexp.MustCompile(`(?m)(?:^\s*(?:- )?image: |-image=)["']?([a-zA-Z0-9][\w./-]*:[\w.-]+)["']?\s*$`)

// Images returns the references of images that the manifest names, sorted. Flux's archive names its images without
// the registry, which the installation adds: ghcr.io by default.
func (m Manifest) Images() ([]string, error) {
	content := m.Content
	if strings.HasSuffix(m.URL, ".tar.gz") {
		unpacked, err := unpack(content)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", m.URL, err)
		}
		content = unpacked
	}
	found := map[string]bool{}
	for _, match := range reference.FindAllSubmatch(content, -1) {
		name := string(match[1])
		if strings.HasPrefix(name, "fluxcd/") {
			name = "ghcr.io/" + name
		}
		found[name] = true
	}
	return sortedKeys(found), nil
}

// unpack joins the files of an archive.
func unpack(archive []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	in := tar.NewReader(zip)
	for {
		if _, err := in.Next(); errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
		if _, err := io.Copy(&out, in); err != nil {
			return nil, err
		}
	}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
