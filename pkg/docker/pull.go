package docker

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Pull pulls an image with `docker pull`. It reports how many layers the CLI has named so far, and how many of them
// have arrived: the CLI reports bytes only on a terminal.
func (c *Client) Pull(ctx context.Context, reference string, progress func(arrived, layers int)) error {
	if _, err := name.ParseReference(reference); err != nil {
		return fmt.Errorf("pull image %s: %w", reference, err)
	}
	layers := &layerCount{arrived: map[string]bool{}, progress: progress}
	if err := c.run(ctx, call{args: []string{"pull", "--", reference}, stdout: layers}); err != nil {
		return fmt.Errorf("pull image %s: %w", reference, err)
	}
	return nil
}

// layerCount counts layers in the output of `docker pull`, whose lines about a layer are "ID: status".
type layerCount struct {
	partial  []byte          // the line that has not ended yet
	arrived  map[string]bool // by layer
	progress func(arrived, layers int)
}

// Write reads whole lines and reports each change of the counts.
func (l *layerCount) Write(p []byte) (int, error) {
	l.partial = append(l.partial, p...)
	for {
		line, rest, whole := bytes.Cut(l.partial, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.partial = rest
		l.read(strings.TrimSpace(string(line)))
	}
}

func (l *layerCount) read(line string) {
	layer, status, _ := strings.Cut(line, ": ")
	before, known := l.arrived[layer]
	switch status {
	case "Pulling fs layer", "Waiting", "Verifying Checksum":
		l.arrived[layer] = before
	case "Download complete", "Pull complete", "Already exists":
		l.arrived[layer] = true
	default: // a line about the image
		return
	}
	if known && before == l.arrived[layer] {
		return
	}
	count := 0
	for _, arrived := range l.arrived {
		if arrived {
			count++
		}
	}
	l.progress(count, len(l.arrived))
}
