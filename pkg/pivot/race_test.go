//go:build race

package pivot_test

// underRace is whether the race detector slows the tests down: each process of its own starts ten times as slowly.
const underRace = true
