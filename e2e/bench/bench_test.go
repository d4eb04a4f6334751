//go:build bench

// Package bench measures one run of `cluster-init up` against its floor: the same registry, kind cluster, providers,
// machine and move with no Flux and no waiting in between, both in one run on one machine.
package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
)

const environmentName = "kubeadm-capd"

// What is to be reached, and what is so far from it that something is broken. No absolute time is judged: it is the
// machine's.
const (
	targetRatio, brokenRatio = 1.6, 2.5
	targetRSS, brokenRSS     = 200 << 20, 400 << 20 // bytes
)

// TestUpAgainstFloor runs `up`, cleans up, runs the floor, cleans up, and prints both. CLUSTER_INIT_BENCH_OUT names a
// file that the tables go to as well; a relative name is below the root of the repository.
func TestUpAgainstFloor(t *testing.T) {
	c := newCLI(t)
	bundled := warm(t, c.bundle)
	f := newFloor(t, c.binary, bundled)
	c.refuseLeftovers(t)
	t.Cleanup(func() { c.cleanup(t) })

	r := report{bundle: bundled.Index.Version, loadBefore: loadAverage(t)}
	r.up = c.up(t)
	c.cleanup(t)
	r.loadBetween = loadAverage(t)
	err := f.run(t.Context())
	r.floor = f.steps
	if err != nil {
		t.Fatalf("%s\nthe floor was not reached: %v", r.markdown(), err)
	}
	r.loadAfter = loadAverage(t)
	publish(t, r.markdown())

	if r.ratio() > brokenRatio {
		t.Errorf("`up` took %.2f times the floor; more than %.1f is far off the target of %.1f", r.ratio(), brokenRatio,
			targetRatio)
	}
	if r.up.usage.peakRSS > brokenRSS {
		t.Errorf("peak RSS of the CLI %d MiB; more than %d is far off the target of %d", r.up.usage.peakRSS>>20,
			brokenRSS>>20, targetRSS>>20)
	}
}

// warm opens the bundle, has the Docker engine hold its node images, and reads all of it once: then neither of the
// two that are compared pays for a cold disk or for a first load.
func warm(t *testing.T, folder string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.For(environmentName); err != nil {
		t.Fatal(err)
	}
	if err := b.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := bundle.LoadImages(t.Context(), &docker.Client{}, b, b.References(bundle.LoadDocker), nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func publish(t *testing.T, text string) {
	t.Helper()
	t.Log("\n" + text)
	file := os.Getenv("CLUSTER_INIT_BENCH_OUT")
	if file == "" {
		return
	}
	if !filepath.IsAbs(file) { // tests run in the folder of their package
		file = filepath.Join("..", "..", file)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Errorf("writing the tables: %v", err)
	}
}

// loadAverage says what else the machine was doing: the load of the last minute.
func loadAverage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
