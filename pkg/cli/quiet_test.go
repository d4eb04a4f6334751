package cli

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// What client-go says of a watch that breaks off goes past all streams, to the process's stderr.
func TestLibrariesDoNotWriteToTheTerminal(t *testing.T) {
	if code := Main(t.Context(), []string{"version"}, Streams{In: strings.NewReader(""), Out: io.Discard,
		Err: io.Discard}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write
	broken := errors.New("connection refused")
	cache.DefaultWatchErrorHandler(t.Context(), &cache.Reflector{}, broken)
	utilruntime.HandleErrorWithContext(t.Context(), broken, "Failed to watch")
	klog.Background().Info("Warning: unable to cancel request")
	klog.Warning("something else")
	klog.Flush()
	os.Stderr = stderr
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(read); err != nil || len(said) > 0 {
		t.Errorf("%s, %v", said, err)
	}
}
