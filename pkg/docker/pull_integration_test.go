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

// A real engine pulls from a registry: `docker pull` reports each layer, and the engine then has the image by tag and digest.
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
	arrived, layers := 0, 0
	if err := engine.Pull(ctx, reference, func(a, all int) { arrived, layers = a, all }); err != nil {
		t.Fatal(err)
	}
	if arrived != 2 || layers != 2 {
		t.Errorf("%d of %d layers, want 2 of 2", arrived, layers)
	}
	if there, err := engine.ImageExists(ctx, reference); err != nil || !there {
		t.Errorf("the engine has the image: %v, %v", there, err)
	}
	err = engine.Pull(ctx, tag.Context().Tag("none").String(), func(int, int) {})
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "not found") &&
		!strings.Contains(strings.ToLower(err.Error()), "unknown") {
		t.Errorf("an image that is not there: %v", err)
	}
}
