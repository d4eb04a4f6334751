package content

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// SumsFile is the content's file with the digests of its release files.
const SumsFile = componentsDir + "/sums.txt"

// Sums are the pinned SHA-256 digests, in lower-case hex, by URL.
type Sums map[string]string

// ReadSums reads SumsFile of fsys. Content without the file pins nothing. An error is a fault EnvironmentInvalid.
func ReadSums(fsys fs.FS) (Sums, error) {
	text, err := fs.ReadFile(fsys, SumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Sums{}, nil
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read %s: %w", SumsFile, err), fault.EnvironmentInvalid, "")
	}
	return ParseSums(SumsFile, text)
}

// ParseSums reads the format of sha256sum with https URLs for files; empty lines and lines that begin with # are
// skipped. An error names file and line, and is a fault EnvironmentInvalid.
func ParseSums(file string, text []byte) (Sums, error) {
	sums := Sums{}
	for n, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sum, address, err := parseSum(line)
		if err == nil && sums[address] != "" && sums[address] != sum {
			err = errors.New("another digest of this URL is on a line above")
		}
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("parse %s:%d: %w", file, n+1, err), fault.EnvironmentInvalid,
				"Fix or remove the line: a SHA-256 digest, two spaces, a URL.")
		}
		sums[address] = sum
	}
	return sums, nil
}

// parseSum splits one line. An asterisk before the URL is how sha256sum marks files that were read as binary.
func parseSum(line string) (sum, address string, err error) {
	sum, address, found := strings.Cut(line, " ")
	digest, decodeErr := hex.DecodeString(sum)
	if !found || decodeErr != nil || len(digest) != sha256.Size {
		return "", "", errors.New("no SHA-256 digest at the beginning of the line")
	}
	address = strings.TrimPrefix(strings.TrimLeft(address, " "), "*")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.ContainsAny(address, " \t") {
		return "", "", errors.New("no https URL after the digest")
	}
	return hex.EncodeToString(digest), address, nil
}

// Unpinned returns those of urls that have no digest, in their order.
func (s Sums) Unpinned(urls []string) []string {
	return slices.DeleteFunc(slices.Clone(urls), func(address string) bool { return s[address] != "" })
}

// Text is what ParseSums reads, sorted by URL.
func (s Sums) Text() []byte {
	var text strings.Builder
	for _, address := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&text, "%s  %s\n", s[address], address)
	}
	return []byte(text.String())
}

// Sum is the digest of data as Sums holds it.
func Sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
