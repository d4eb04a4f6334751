package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestPullReportsItsLayers(t *testing.T) {
	c, calls := fakeDocker(t, says(`v1: Pulling from a/b
1: Pulling fs layer
2: Pulling fs layer
3: Already exists
2: Verifying Checksum
2: Download complete
1: Download complete
2: Pull complete
1: Pull complete
Digest: sha256:12
Status: Downloaded newer image for r.example:5000/a/b:v1
r.example:5000/a/b:v1`))
	var heard []string
	reference := "r.example:5000/a/b:v1@sha256:" + strings.Repeat("ab", 32)
	err := c.Pull(t.Context(), reference, func(arrived, layers int) {
		heard = append(heard, fmt.Sprint(arrived, "/", layers))
	})
	if want := []string{"0/1", "0/2", "1/3", "2/3", "3/3"}; err != nil || !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q, %v", heard, want, err)
	}
	if got, want := calls(), []string{"pull -- " + reference}; !slices.Equal(got, want) {
		t.Errorf("called %q, want %q", got, want)
	}
}

// The CLI may write half a line at a time.
func TestLinesInParts(t *testing.T) {
	arrived, layers := 0, 0
	l := &layerCount{arrived: map[string]bool{}, progress: func(a, all int) { arrived, layers = a, all }}
	for _, part := range []string{"1: Pull", "ing fs layer\n2: Already", " exists\n", "1: Pull comp", "lete"} {
		if _, err := l.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if arrived != 1 || layers != 2 {
		t.Errorf("%d of %d layers, want 1 of 2: the last line has not ended", arrived, layers)
	}
}

func TestPullFails(t *testing.T) {
	for name, tc := range map[string]struct {
		stderr string
		code   fault.Code
	}{
		"no such image": {"Error response from daemon: manifest for a/b:v1 not found: manifest unknown",
			fault.DockerFailed},
		"no engine": {"Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
			fault.DockerUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := fakeDocker(t, fails(1, tc.stderr))
			err := c.Pull(t.Context(), "a/b:v1", func(int, int) {})
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.stderr) ||
				!strings.Contains(err.Error(), "pull image a/b:v1") {
				t.Errorf("code %q: %v", fault.CodeOf(err), err)
			}
		})
	}
}

// What is no reference is refused, and a reference is never read as a flag.
func TestPullOfNoReference(t *testing.T) {
	c, calls := fakeDocker(t, "")
	for _, reference := range []string{"A b", "", "--help"} {
		if err := c.Pull(t.Context(), reference, func(int, int) {}); (err == nil) != (reference == "--help") {
			t.Errorf("%q: %v", reference, err)
		}
	}
	if got, want := calls(), []string{"pull -- --help"}; !slices.Equal(got, want) {
		t.Errorf("called %q, want %q", got, want)
	}
}

// A pull that never ends is bounded by its context, with the cause in the error.
func TestPullEndsWithItsContext(t *testing.T) {
	c, _ := fakeDocker(t, "exec cat /dev/zero >&2")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, fmt.Errorf("enough"))
	defer cancel()
	if err := c.Pull(ctx, "a/b:v1", func(int, int) {}); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("%v", err)
	}
}
