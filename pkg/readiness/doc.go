// Package readiness finds out whether a cluster can act. Ready is what a controller last wrote, and stays there for
// ever without the controller. Observe reads a cluster once and stores nothing in it: its writes are dry runs and
// access reviews. Judge is a pure function of the observation.
package readiness
