package content

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// Bounds of an archive, so that listing a malicious one ends.
const (
	maxUnpacked = 8 * maxManifest
	maxEntries  = 20_000
	maxRatio    = 200
)

// wellFormed reports whether data has the format that address names: an archive by its extension, else Kubernetes
// objects. It recognizes other content, such as a login page. It does not recognize a tampered object.
func wellFormed(address string, data []byte) error {
	if err := noPage(data); err != nil {
		return err
	}
	if u, err := url.Parse(address); err == nil && (strings.HasSuffix(u.Path, ".tar.gz") ||
		strings.HasSuffix(u.Path, ".tgz")) {
		return isArchive(data)
	}
	return areObjects(data)
}

// noPage reports whether data is something else than a web page.
func noPage(data []byte) error {
	if isPage(data) {
		return errors.New("the answer is a web page")
	}
	return nil
}

// isPage recognizes HTML and XML, with or without a byte order mark: no manifest and no archive begins so.
func isPage(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))), []byte("<"))
}

// isArchive reads a gzipped tar archive to its end, where gzip's own checksum is.
func isArchive(data []byte) error {
	unzipped, err := unpack.New(bytes.NewReader(data), unpack.Limits{Entries: maxEntries, Total: maxUnpacked,
		Ratio: maxRatio}, func(r io.Reader) (io.Reader, func(), error) {
		plain, err := gzip.NewReader(r)
		return plain, nil, err
	})
	if err != nil {
		return fmt.Errorf("read the answer as gzip: %w", err)
	}
	files := 0
	err = unzipped.Tar(func(header *tar.Header, _ io.Reader) error {
		if header.Typeflag == tar.TypeReg {
			files++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the answer as a tar archive: %w", err)
	}
	if _, err := io.Copy(io.Discard, unzipped); err != nil {
		return fmt.Errorf("read the answer as gzip: %w", err)
	}
	if files == 0 {
		return errors.New("the archive contains no file")
	}
	return nil
}

// areObjects reads a stream of YAML or JSON documents: each is a Kubernetes object or empty, and at least one is an
// object.
func areObjects(data []byte) error {
	if err := unpack.YAML(data); err != nil {
		return fmt.Errorf("read the answer as YAML: %w", err)
	}
	objects := 0
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for n := 1; ; n++ {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the answer as YAML: %w", err)
		}
		if len(document.Content) == 1 && document.Content[0].Tag == "!!null" {
			continue
		}
		var object struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
		}
		if err := document.Decode(&object); err != nil || object.APIVersion == "" || object.Kind == "" {
			return fmt.Errorf("document %d of the answer is not a Kubernetes object", n)
		}
		objects++
	}
	if objects == 0 {
		return errors.New("the answer contains no Kubernetes object")
	}
	return nil
}
