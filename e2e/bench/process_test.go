//go:build bench

package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sampleInterval is how often a process is sampled. The kernel keeps the peak of its memory itself, so a sample sees
// all that was before it.
const sampleInterval = 100 * time.Millisecond

// clockTick is the unit of the CPU times in /proc/PID/stat: USER_HZ, which is 100 on every architecture that Go and
// Docker run on.
const clockTick = time.Second / 100

// usage is what a process took. Peak and cpu are those of the process alone, without the docker commands it starts.
type usage struct {
	peakRSS      int64 // VmHWM of /proc/PID/status, in bytes; file-backed pages (its own code) count too
	cpu          time.Duration
	withChildren time.Duration // CPU time by rusage: the process and every child it has waited for
}

// watch samples a process until stop.
type watch struct {
	pid  int
	end  chan struct{}
	peak chan int64
}

func watchProcess(pid int) watch {
	w := watch{pid: pid, end: make(chan struct{}), peak: make(chan int64, 1)}
	go func() {
		tick := time.NewTicker(sampleInterval)
		defer tick.Stop()
		var peak int64
		for {
			if now, err := peakRSS(pid); err == nil { // not of a process that has just ended
				peak = max(peak, now)
			}
			select {
			case <-w.end:
				w.peak <- peak
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

// stop returns what the process took. It may have ended, but must not have been waited for.
func (w watch) stop() (usage, error) {
	close(w.end)
	u := usage{peakRSS: <-w.peak}
	if u.peakRSS == 0 {
		return u, fmt.Errorf("the memory of process %d was never seen", w.pid)
	}
	var err error
	u.cpu, err = cpuTime(w.pid)
	return u, err
}

func peakRSS(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no VmHWM", pid)
}

// cpuTime is the user and system time of a process, its children not counted.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may hold anything: the fields that can be counted begin after it.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has only %d fields", pid, len(fields))
	}
	var ticks int64
	for _, field := range fields[11:13] { // utime, stime: see proc(5)
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// TestProcessIsMeasured holds this process to what it surely takes: some memory, and the CPU time that it burns here.
func TestProcessIsMeasured(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	w := watchProcess(os.Getpid())
	for begin := time.Now(); time.Since(begin) < 300*time.Millisecond; { //nolint:revive // it only burns CPU time
	}
	u, err := w.stop()
	if err != nil {
		t.Fatal(err)
	}
	if u.peakRSS < 1<<20 || u.peakRSS > 4<<30 {
		t.Errorf("peak RSS of %d bytes", u.peakRSS)
	}
	if burnt := u.cpu - before; burnt < 10*time.Millisecond || burnt > 10*time.Second {
		t.Errorf("CPU time of %s for 300 ms of work", burnt)
	}
}
