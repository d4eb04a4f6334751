//go:build integration

package bundle

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

// countingEngine counts the loads that reach a real engine.
type countingEngine struct {
	*docker.Client
	loads int
}

// Load loads and counts.
func (e *countingEngine) Load(ctx context.Context, tar io.Reader) error {
	e.loads++
	return e.Client.Load(ctx, tar)
}

// TestLoadIntoRealEngine loads an image into a real Docker engine, twice; the second time nothing is sent.
func TestLoadIntoRealEngine(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ref := fmt.Sprintf("example.org/cluster-init-itest:%d", os.Getpid())
	engine := &countingEngine{Client: &docker.Client{}}
	t.Cleanup(func() { _ = engine.RemoveImage(context.Background(), ref) })
	if _, err := engine.Info(ctx); err != nil {
		prerequisite.Missing(t, fmt.Sprintf("no Docker engine: %v", err))
	}
	source := newLayoutImages(t, ref)
	for range 2 {
		if err := LoadImages(ctx, engine, source, []string{ref}, nil); err != nil {
			t.Fatal(err)
		}
		there, err := engineHas(ctx, engine, ref, source.images[ref])
		if err != nil || !there {
			t.Fatalf("the engine has the image: %v, %v", there, err)
		}
	}
	if engine.loads != 1 {
		t.Errorf("%d loads, want 1", engine.loads)
	}
}
