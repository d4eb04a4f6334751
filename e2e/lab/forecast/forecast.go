package main

import (
	"fmt"
	"strings"
	"time"
)

// machine is what `make up` finds on a machine.
type machine struct {
	engine  bool     // a Docker engine is installed
	cache   bool     // the toolchain's build cache is in use
	bundle  bool     // no registry answers, or a bundle is asked for
	chosen  bool     // a bundle is asked for
	modules int      // of the bundle
	missing []string // of these, those that are not built yet
}

// What the parts took on 2 cores, see docs/contributing/evidence/measurements.md. They are here to set expectations,
// and no test holds them.
const (
	installEngine   = 30 * time.Second
	compileCLI      = 210 * time.Second
	compileOthers   = 35 * time.Second  // one module of the bundle
	compileFirst    = 300 * time.Second // Kubernetes, which has most of what the others share
	makeImages      = 45 * time.Second
	upItself        = 190 * time.Second
	measuredOnCores = 2
)

// text is the forecast: a line for each part that takes time, and the sum.
func (m machine) text(cores int) string {
	var lines []string
	var sum time.Duration
	part := func(what string, parallel, serial time.Duration) {
		took := serial + parallel*measuredOnCores/time.Duration(cores)
		sum += took
		lines = append(lines, fmt.Sprintf("  %-8s %s", about(took), what))
	}
	if !m.engine {
		part("install a Docker engine: none is here", 0, installEngine)
	}
	if !m.cache {
		part("download and compile the CLI: nothing was compiled on this machine yet", compileCLI, 0)
	}
	if m.bundle && len(m.missing) > 0 {
		why := "no container registry answers"
		if m.chosen {
			why = "a bundle is asked for"
		}
		build := time.Duration(len(m.missing)) * compileOthers
		if m.missing[0] == "kubernetes" {
			build += compileFirst - compileOthers
		}
		part(fmt.Sprintf("build the offline bundle from source, as %s: %d of %d modules are not built yet", why,
			len(m.missing), m.modules), build, makeImages)
	}
	part("cluster-init up", 0, upItself)
	text := m.notice() + fmt.Sprintf("make up takes about %s here, with %d cores:\n%s\n", about(sum), cores,
		strings.Join(lines, "\n"))
	if sum > upItself {
		text += fmt.Sprintf("The next time about %s: what is built stays in the caches of this user.\n",
			about(upItself))
	}
	return text
}

// notice says that a bundle is built although OFFLINE is not set, while there is still time to stop.
func (m machine) notice() string {
	switch {
	case !m.bundle || m.chosen:
		return ""
	case len(m.missing) == 0:
		return "No container registry answers: this run uses an offline bundle. With OFFLINE=1 it does not ask them.\n"
	}
	return "No container registry answers, and OFFLINE=1 is not set: this run first builds an offline bundle from source.\n" +
		"If this machine should reach a registry, stop with Ctrl-C, and check the network and the proxy variables.\n"
}

// about rounds a duration to what a forecast can promise.
func about(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Round(10*time.Second).Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
}
