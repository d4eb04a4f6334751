package flux

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// ErrArtifactTooLarge is in the error of ReadArtifact about an artifact with more bytes than the caller accepts.
var ErrArtifactTooLarge = errors.New("too large")

// ArtifactPath returns the path by which the API server proxies a request to the Service in an artifact's address:
// source-controller can be reached only in the cluster. It is empty if the host does not have the form
// SERVICE.NAMESPACE.
func ArtifactPath(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("read the address of an artifact: %w", err)
	}
	parts := strings.Split(u.Hostname(), ".")
	if len(parts) < 2 {
		return "", nil
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return fmt.Sprintf("/api/v1/namespaces/%s/services/http:%s:%s/proxy%s", parts[1], parts[0], port, u.EscapedPath()),
		nil
}

// ReadArtifact reads an artifact of at most that many bytes from source-controller, through the API server, and
// verifies its digest. It returns what Flux's other controllers read.
func ReadArtifact(ctx context.Context, c *kube.Cluster, a *meta.Artifact, most int64) ([]byte, error) {
	if a.Size != nil && *a.Size > most {
		return nil, fmt.Errorf("%w: the artifact has %d bytes, more than %d", ErrArtifactTooLarge, *a.Size, most)
	}
	path, err := ArtifactPath(a.URL)
	if err == nil && path == "" {
		err = fmt.Errorf("the address %q is not that of a Service", a.URL)
	}
	if err != nil {
		return nil, err
	}
	answer, body, err := c.Raw(ctx, path, most+1)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the artifact from source-controller: %w", err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("read the artifact from source-controller: the API server answered %s", answer.Status)
	case int64(len(body)) > most:
		return nil, fmt.Errorf("%w: the artifact has more than %d bytes", ErrArtifactTooLarge, most)
	}
	return body, verifyDigest(body, a.Digest)
}

// verifyDigest compares content with its digest, in the form of a Flux artifact: an algorithm, a colon, and hexadecimal
// digits. It supports sha256, sha384 and sha512.
func verifyDigest(content []byte, digest string) error {
	algorithm, want, _ := strings.Cut(digest, ":")
	var sum hash.Hash
	switch algorithm {
	case "sha256":
		sum = sha256.New()
	case "sha384":
		sum = sha512.New384()
	case "sha512":
		sum = sha512.New()
	default:
		return fmt.Errorf("verify the artifact: the algorithm of its digest %q is not supported", digest)
	}
	sum.Write(content)
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("verify the artifact: its digest is %s:%s, but Flux reports %s", algorithm, got, digest)
	}
	return nil
}
