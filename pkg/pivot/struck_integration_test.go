//go:build integration

package pivot_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestStruck injects faults into a pivot at writes that a seed selects, and into half of the runs that finish it. It
// verifies that the last run ends with everything on the target, unchanged and active, and nothing at the source. Half
// of the time each run is on another machine, without the earlier backups; then a run on the first machine succeeds,
// too. CLUSTER_INIT_TEST_SEED replays a seed. CLUSTER_INIT_TEST_ALL=1 injects every fault at every write, with outages
// of 30 seconds.
func TestStruck(t *testing.T) {
	j := newJob(t)
	var total int
	t.Run("undisturbed", func(t *testing.T) { total = j.undisturbed(t) })
	seed := seed(t)
	t.Logf("%d writes, CLUSTER_INIT_TEST_SEED=%d", total, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, first := range draw(random, total) {
		second := strike{}
		if random.IntN(2) == 0 {
			second = strike{What: strikes[random.IntN(len(strikes))], Write: 1 + random.IntN(total),
				Outage: first.Outage}
		}
		elsewhere, where := random.IntN(2) == 0, "here"
		if elsewhere {
			where = "elsewhere"
		}
		t.Run(fmt.Sprintf("%s-%d-then-%s-%s-%d", first.What, first.Write, where, second.What, second.Write),
			func(t *testing.T) {
				t.Parallel()
				j := j.in(t)
				for i, at := range []strike{first, second, {}} {
					j.Strike = at
					if i > 0 && elsewhere {
						j.Records = t.TempDir()
					}
					if j.start(t) {
						break
					}
				}
				j.check(t)
				if j.Strike, j.Records = (strike{}), ""; elsewhere {
					if !j.start(t) {
						t.Error("the first machine does not end well")
					}
					j.check(t)
				}
			})
	}
}

// TestAnotherMachineEndsTheLastInstants kills a move before each of its last writes. The source is empty or nearly
// empty, the target is paused in part or as a whole, and the machine that resumes has no backup.
func TestAnotherMachineEndsTheLastInstants(t *testing.T) {
	j := newJob(t)
	var total int
	t.Run("undisturbed", func(t *testing.T) { j.undisturbed(t) }) // the first one writes something more
	t.Run("undisturbed again", func(t *testing.T) { total = j.undisturbed(t) })
	for back := range 4 { // the note that it is verified, two Clusters that are resumed, the last deletion
		t.Run(fmt.Sprintf("%d before the end", back), func(t *testing.T) {
			j := j.in(t)
			j.Strike = strike{What: killedBefore, Write: total - back}
			if j.start(t) {
				t.Fatal("it was not killed")
			}
			j.Strike, j.Records = strike{}, t.TempDir()
			if !j.start(t) {
				t.Fatal("the other machine does not end well")
			}
			j.check(t)
		})
	}
}

// undisturbed returns how many writes a pivot makes.
func (j job) undisturbed(t *testing.T) int {
	t.Helper()
	j = j.in(t)
	if !j.start(t) {
		t.Fatal("it did not end well")
	}
	j.check(t)
	text, err := os.ReadFile(filepath.Join(j.Dir, "writes"))
	if err != nil {
		t.Fatal(err)
	}
	total, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// seed is the one that was given, else a new one.
func seed(t *testing.T) uint64 {
	t.Helper()
	given := os.Getenv("CLUSTER_INIT_TEST_SEED")
	if given == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// drawnFaults is how many faults `make test` injects into a pivot: another sample each time. `make test-pivot` injects
// all of them.
const drawnFaults = 12

// draw returns every fault, or a sample with short outages.
func draw(random *rand.Rand, total int) []strike {
	everything := os.Getenv("CLUSTER_INIT_TEST_ALL") != ""
	outage := 3 * time.Second
	if everything {
		outage = 30 * time.Second
	}
	var all []strike
	for write := 1; write <= total; write++ {
		for _, what := range strikes {
			all = append(all, strike{what, write, outage})
		}
	}
	if everything {
		return all
	}
	random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	return all[:min(drawnFaults, len(all))]
}
