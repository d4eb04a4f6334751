//go:build bench

package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// report is what was measured.
type report struct {
	bundle string // version
	// The load of the last minute before `up`, before the floor and after it. Another program that was busy during only
	// one of the two makes the ratio worthless.
	loadBefore, loadBetween, loadAfter string
	up                                 measured
	floor                              []timed
}

func total(steps []timed) time.Duration {
	var sum time.Duration
	for _, s := range steps {
		sum += s.elapsed
	}
	return sum
}

// ratio is how many times longer `up` took than the floor; 0 when one of them was not run.
func (r report) ratio() float64 {
	if total(r.floor) == 0 {
		return 0
	}
	return r.up.wall.Seconds() / total(r.floor).Seconds()
}

// markdown returns three tables: `up` by phase, the floor by step, and the figures.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`cluster-init up %s --bundle` on %d CPUs, images warm; bundle %s; load average %s before `up`, "+
		"%s before the floor, %s after.\n",
		environmentName, runtime.NumCPU(), r.bundle, r.loadBefore, r.loadBetween, r.loadAfter)
	b.WriteString("\n| phase of `up` | seconds | |\n|---|---:|---|\n")
	for _, p := range r.up.phases {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.name, seconds(p.elapsed), p.note)
	}
	fmt.Fprintf(&b, "| **whole process** | **%s** | |\n", seconds(r.up.wall))
	b.WriteString("\n| step of the floor | seconds | |\n|---|---:|---|\n")
	for _, s := range r.floor {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.name, seconds(s.elapsed), s.note)
	}
	fmt.Fprintf(&b, "| **sum** | **%s** | |\n", seconds(total(r.floor)))
	b.WriteString("\n| figure | value | target |\n|---|---:|---:|\n")
	fmt.Fprintf(&b, "| `up` / floor | %.2f | ≤ %.1f |\n", r.ratio(), targetRatio)
	fmt.Fprintf(&b, "| peak RSS of the CLI | %d MiB | < %d MiB |\n", r.up.usage.peakRSS>>20, targetRSS>>20)
	fmt.Fprintf(&b, "| CPU time of the CLI | %s s | |\n", seconds(r.up.usage.cpu))
	fmt.Fprintf(&b, "| the same with the docker commands that it ran | %s s | |\n", seconds(r.up.usage.withChildren))
	fmt.Fprintf(&b, "| API requests of the CLI | %s | |\n", orUnknown(r.up.apiRequests))
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }

func orUnknown(s string) string {
	if s == "" {
		return "not reported"
	}
	return s
}

func TestReport(t *testing.T) {
	r := report{
		up: measured{wall: 150 * time.Second, apiRequests: "321",
			phases: []timed{{name: "look", elapsed: 1500 * time.Millisecond}},
			usage:  usage{peakRSS: 120 << 20, cpu: 3 * time.Second, withChildren: 4 * time.Second}},
		floor: []timed{{name: "kind cluster", elapsed: 40 * time.Second}, {name: "move", elapsed: 60 * time.Second}},
	}
	text := r.markdown()
	for _, want := range []string{"| look | 1.5 |", "| **whole process** | **150.0** |", "| **sum** | **100.0** |",
		"| `up` / floor | 1.50 | ≤ 1.6 |", "| 120 MiB | < 200 MiB |", "| 3.0 s |", "| 4.0 s |", "| 321 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if none := (report{}).ratio(); none != 0 {
		t.Errorf("ratio %f without a floor", none)
	}
}
