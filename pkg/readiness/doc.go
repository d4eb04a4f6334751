// Package readiness finds out whether a cluster can act: Ready is what a controller last wrote, and without the
// controller it stays there for ever. Observe reads a cluster once, and changes nothing: what writes is a dry run.
// Judge is a pure function of what was read.
package readiness
