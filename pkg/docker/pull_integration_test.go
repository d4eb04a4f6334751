//go:build integration

package docker

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

// A real engine pulls from a registry: it says how much has come, and then has the image by tag and digest.
func TestPullByARealEngine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	engine := &Client{}
	if _, err := engine.Info(ctx); err != nil {
		prerequisite.Missing(t, fmt.Sprintf("no Docker engine: %v", err))
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	image, err := random.Image(4<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(fmt.Sprintf("%s/cluster-init-itest:p%d", strings.TrimPrefix(server.URL, "http://"),
		os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, image, remote.WithContext(ctx)); err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	reference := tag.String() + "@" + digest.String()
	t.Cleanup(func() { _ = engine.RemoveImage(context.Background(), reference) })
	var most, size int64
	steps := 0
	if err := engine.Pull(ctx, reference, func(come, all int64) {
		most, size, steps = max(most, come), max(size, all),
			steps+1
	}); err != nil {
		t.Fatal(err)
	}
	if most != size || size < 8<<20 || steps < 2 {
		t.Errorf("%d of %d bytes in %d steps", most, size, steps)
	}
	if there, err := engine.ImageExists(ctx, reference); err != nil || !there {
		t.Errorf("the engine has the image: %v, %v", there, err)
	}
	err = engine.Pull(ctx, tag.Context().Tag("none").String(), func(int64, int64) {})
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "not found") &&
		!strings.Contains(strings.ToLower(err.Error()), "unknown") {
		t.Errorf("an image that is not there: %v", err)
	}
}
