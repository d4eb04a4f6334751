package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Cause is why something does not get ready and cannot by itself, as somebody found out who looked deeper than a
// Follower does.
type Cause struct {
	Rule         string   // what found it
	Cluster      string   // "bootstrap" or "management"
	Object       string   // what says so, as Kind/namespace/name
	Text, Remedy string   // for people
	Delays       []string // the objects that do not get ready for it, in the form of Object
}

const (
	// causesInterval is between two looks for causes. One takes a second or three, and reads both clusters.
	causesInterval = 30 * time.Second
	// permanentAfter is how long a cause must have been there, in each of several looks, to end a wait: what failed
	// once is tried again within seconds, and a look between two steps of a controller may see what is gone with the
	// next one.
	permanentAfter = 2 * time.Minute
	// permanentPodAfter is the same for a Pod: kubelet waits up to five minutes before it tries an image again.
	permanentPodAfter = 6 * time.Minute
	warnedAfter       = 2   // looks
	mostOfText        = 120 // characters of a cause that are told: its remedy stands behind it
)

// lookForCauses asks for causes again and again until ctx ends. What cannot be asked is no cause, and takes none away.
func (f Follower) lookForCauses(ctx context.Context, found chan<- []Cause) {
	if f.causes == nil {
		return
	}
	tick := time.NewTicker(causesInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var causes []Cause
		asked := make(chan error, 1)
		go func() {
			var err error
			causes, err = f.causes(ctx)
			asked <- err
		}()
		select {
		case <-ctx.Done(): // a look may hang in what takes no context, such as kind; the wait has its end without it
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

// causeTracker holds which causes were found, since when, and in how many looks.
type causeTracker struct {
	seen map[string]sighting
}

type sighting struct {
	since time.Time
	looks int
}

// consider takes what a look at a time has found. A cause counts while it delays something that is waited for, and from
// the first of the looks that all have found it.
func (d *causeTracker) consider(causes []Cause, at time.Time, blocked []event.Object) (told []Cause, permanent *Cause) {
	seen := map[string]sighting{}
	for _, c := range causes {
		if !slices.ContainsFunc(blocked, c.delays) {
			continue
		}
		key := c.Rule + " " + c.Cluster + " " + c.Object // the text may name times and numbers, which change
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

// patience is how long a cause must have been there to end a wait.
func (c Cause) patience() time.Duration {
	if strings.HasPrefix(c.Object, "Pod/") {
		return permanentPodAfter
	}
	return permanentAfter
}

// delays says whether an object does not get ready for a cause.
func (c Cause) delays(o event.Object) bool {
	name := strings.ReplaceAll(o.Kind+"/"+o.Namespace+"/"+o.Name, "//", "/") // some have no namespace
	return o.Cluster == c.Cluster && (c.Object == name || slices.Contains(c.Delays, name))
}

// permanentCause tells of causes that were found, and returns the error of a wait that cannot end well. To be patient
// is to tell only.
func (f Follower) permanentCause(d *causeTracker, causes []Cause, v *view, report pipeline.Reporter) error {
	told, permanent := d.consider(causes, f.now(), v.blocked())
	for _, c := range told {
		report.Warn("%s (%s in the %s cluster), which does not go away by itself; remedy: %s",
			oneline.Of(c.Text, mostOfText), c.Object, c.Cluster, c.Remedy)
	}
	if permanent == nil || f.patient {
		return nil
	}
	return fault.New(fault.ComponentStuck,
		fmt.Sprintf("waiting for %s: %s (%s in the %s cluster), which has not gone away for %s and does not by itself",
			v.goal.What, oneline.Of(permanent.Text, 3*mostOfText), permanent.Object, permanent.Cluster,
			permanent.patience()),
		permanent.Remedy+". Then run the same command again, which goes on where it was. With --keep-waiting it waits "+
			"until it is out of time.")
}
