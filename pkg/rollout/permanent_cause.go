package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Cause is a permanent reason why an object does not become ready, as found by a deeper diagnosis than a Follower's.
type Cause struct {
	Rule         string   // the diagnosis rule
	Cluster      string   // "bootstrap" or "management"
	Object       string   // the object that shows it, as Kind/namespace/name
	Text, Remedy string   // for people
	Delays       []string // the objects that do not become ready because of it, in the form of Object
}

const (
	// causesInterval is the time between two diagnoses. One takes one to three seconds and reads both clusters.
	causesInterval = 30 * time.Second
	mostLeftOut    = 2
	// permanentAfter is how long a cause must persist, over several diagnoses, to end a wait: a controller retries a
	// failure within seconds, and a diagnosis between two of its steps may find a cause that the next step removes.
	permanentAfter = 2 * time.Minute
	// permanentPodAfter is the same for a Pod: the kubelet waits up to five minutes before it retries an image.
	permanentPodAfter = 6 * time.Minute
	warnedAfter       = 2   // diagnoses
	mostOfText        = 120 // characters of a cause in a warning: its remedy follows
)

// lookForCauses runs diagnoses until ctx ends. It leaves one out if an object has become ready since the one before,
// but at most mostLeftOut in succession: a cause may block one object while others continue. A failed diagnosis adds
// no cause and removes none.
func (f Follower) lookForCauses(ctx context.Context, progress *atomic.Bool, found chan<- []Cause) {
	if f.causes == nil {
		return
	}
	tick := time.NewTicker(causesInterval)
	defer tick.Stop()
	leftOut := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if progress.Swap(false) && leftOut < mostLeftOut {
			leftOut++
			continue
		}
		leftOut = 0
		var causes []Cause
		asked := make(chan error, 1)
		go func() {
			var err error
			causes, err = f.causes(ctx)
			asked <- err
		}()
		select {
		case <-ctx.Done(): // a diagnosis may hang in a call without a context, such as kind's; the wait ends without it
			return
		case err := <-asked:
			if err != nil {
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case found <- causes:
		}
	}
}

// causeTracker records which causes were found, since when, and in how many diagnoses.
type causeTracker struct {
	seen map[string]sighting
}

type sighting struct {
	since time.Time
	looks int
}

// consider records the causes of one diagnosis. A cause counts while it delays something that is waited for, since the
// first of the consecutive diagnoses that found it. told are the causes to warn of now.
func (d *causeTracker) consider(causes []Cause, at time.Time, blocked []event.Object) (told []Cause, permanent *Cause) {
	seen := map[string]sighting{}
	for _, c := range causes {
		if !slices.ContainsFunc(blocked, c.delays) {
			continue
		}
		key := c.Rule + " " + c.Cluster + " " + c.Object // the text may contain times and numbers, which change
		s, before := d.seen[key]
		if !before {
			s.since = at
		}
		s.looks++
		seen[key] = s
		if s.looks == warnedAfter {
			told = append(told, c)
		}
		if permanent == nil && s.looks > warnedAfter && at.Sub(s.since) >= c.patience() {
			permanent = &c
		}
	}
	d.seen = seen
	return told, permanent
}

// patience is how long a cause must persist to end a wait.
func (c Cause) patience() time.Duration {
	if strings.HasPrefix(c.Object, "Pod/") {
		return permanentPodAfter
	}
	return permanentAfter
}

// delays reports whether a cause delays an object.
func (c Cause) delays(o event.Object) bool {
	name := strings.ReplaceAll(o.Kind+"/"+o.Namespace+"/"+o.Name, "//", "/") // some have no namespace
	return o.Cluster == c.Cluster && (c.Object == name || slices.Contains(c.Delays, name))
}

// permanentCause warns of the causes found, and returns the error of a wait that cannot succeed. A patient Follower
// only warns.
func (f Follower) permanentCause(d *causeTracker, causes []Cause, v *view, report pipeline.Reporter) error {
	told, permanent := d.consider(causes, f.now(), v.blocked())
	for _, c := range told {
		report.Warn("%s (%s in the %s cluster) does not go away by itself; remedy: %s",
			oneline.Of(c.Text, mostOfText), c.Object, c.Cluster, c.Remedy)
	}
	if permanent == nil || f.patient {
		return nil
	}
	return fault.New(fault.ComponentStuck,
		fmt.Sprintf("waiting for %s: %s (%s in the %s cluster): not gone after %s, and it does not go away by itself",
			v.goal.What, oneline.Of(permanent.Text, 3*mostOfText), permanent.Object, permanent.Cluster,
			permanent.patience()),
		permanent.Remedy+". Then run the same command again: it resumes. "+
			"Add --keep-waiting to wait until the time limit.")
}
