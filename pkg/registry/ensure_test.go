package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

// stuckEngine has a container in state created, until it is removed. It reports those times, or none.
func stuckEngine(t *testing.T, now, created string) (engine *docker.Client, removed, started func() bool) {
	t.Helper()
	folder := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
cd %s
case "$1 $2" in
"container inspect")
	if [ -e removed ]; then echo "Error response from daemon: No such container: x" >&2; exit 1; fi
	echo '[{"Id":"c1","Name":"/x","Created":%q,"State":{"Status":"created"}}]' ;;
"info --format") echo '{"ServerVersion":"28","SystemTime":%q}' ;;
"rm --force") touch removed ;;
"network ls") echo n1 ;;
"network inspect") echo '[{"Id":"n1","Name":"kind"}]' ;;
run*) touch started ;;
esac
`, folder, created, now)
	path := filepath.Join(folder, "docker")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	is := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(folder, name)); return err == nil }
	}
	return &docker.Client{Binary: path}, is("removed"), is("started")
}

// A run that was killed leaves a container that it never started. One that was created a moment ago is another run's.
func TestAContainerThatIsNeverStartedIsReplaced(t *testing.T) {
	const noTime = "0001-01-01T00:00:00Z"
	for name, test := range map[string]struct {
		now, created string
		bound        time.Duration
		replaced     bool
		waits        bool
	}{
		"an old one":                 {"2026-01-02T03:05:00Z", "2026-01-02T03:04:00Z", startBound, true, false},
		"a new one":                  {"2026-01-02T03:04:01Z", "2026-01-02T03:04:00Z", startBound, false, false},
		"the engine has no time":     {"", "2026-01-02T03:04:00Z", time.Second, true, true},
		"the container has no time":  {"2026-01-02T03:04:00Z", noTime, time.Second, true, true},
		"neither has one":            {"", noTime, time.Second, true, true},
		"the clock was set back":     {"2026-01-01T00:00:00Z", "2026-01-02T03:04:00Z", time.Second, true, true},
		"no time, and no time waits": {"", noTime, startBound, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			engine, removed, started := stuckEngine(t, test.now, test.created)
			begun, options := time.Now(), EnsureOptions{Cluster: "demo", Network: DefaultNetwork}
			var err error
			if test.waits || test.replaced {
				err = ensureContainer(t.Context(), engine, options, "image", test.bound)
			} else {
				err = attemptContainer(t.Context(), engine, options, "image", &neverStarted{bound: test.bound}, begun)
			}
			if test.replaced != (err == nil) || !test.replaced && !errors.Is(err, errBeingMade) {
				t.Errorf("error %v", err)
			}
			if removed() != test.replaced || started() != test.replaced {
				t.Errorf("removed %v, started %v, want %v", removed(), started(), test.replaced)
			}
			if test.waits && time.Since(begun) < test.bound {
				t.Errorf("it was replaced after %s", time.Since(begun))
			}
		})
	}
}
