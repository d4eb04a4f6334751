//go:build race

package environment_test

// underRace is whether the race detector slows the tests down, ten times where they render much.
const underRace = true
