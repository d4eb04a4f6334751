package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// block returns the lines of the block.
func (l *Live) block() []string {
	if l.phase == nil {
		return nil
	}
	now := l.now()
	head := paint(l.colours, bold, "● "+oneline.Of(l.phase.title, 120)) + "  " + short(now.Sub(l.phase.begun))
	if left := l.remaining(now); left > 0 {
		head += paint(l.colours, faint, "  about "+short(left)+" left")
	}
	if l.phase.delay != nil {
		head += paint(l.colours, yellow, "  "+oneline.Of(later(*l.phase.delay), 200))
	}
	lines := []string{head}
	objects := make([]*objectUnderWay, 0, len(l.underWay))
	for _, o := range l.underWay {
		objects = append(objects, o)
	}
	slices.SortFunc(objects, byNeed)
	widest := 0
	for _, o := range objects {
		widest = max(widest, len(named(o)))
	}
	for i, o := range objects {
		lines = append(lines, l.line(o, i == len(objects)-1, widest, now))
	}
	return append(lines, l.ahead()...)
}

// byNeed sorts by the number of dependencies, so that objects without any come first.
func byNeed(a, b *objectUnderWay) int {
	if need := len(a.WaitsFor) - len(b.WaitsFor); need != 0 {
		return need
	}
	return strings.Compare(a.ID(), b.ID())
}

func (l *Live) line(o *objectUnderWay, last bool, widest int, now time.Time) string {
	branch := "├ "
	if last {
		branch = "└ "
	}
	name := named(o)
	text := "  " + branch + name + strings.Repeat(" ", widest-len(name)) + "  " + padded(short(now.Sub(o.since)), 6) +
		"  "
	colour := faint
	if o.State == "Failed" || o.State == "Suspended" {
		colour = red
	}
	return text + paint(l.colours, colour, l.state(o))
}

// state returns what an object waits for. Without dependencies, it returns the state, the number of objects behind it,
// and the message.
func (l *Live) state(o *objectUnderWay) string {
	if len(o.WaitsFor) > 0 {
		return "waits for " + oneline.Of(strings.Join(o.WaitsFor, ", "), 200)
	}
	state := o.State
	if n := l.behind(o); n > 0 {
		state += fmt.Sprintf(", %d behind it", n)
	}
	if o.Message != "" {
		state += ": " + oneline.Ends(o.Message, 200)
	}
	return state
}

// behind returns how many objects of the same kind wait for o, directly or indirectly.
func (l *Live) behind(o *objectUnderWay) int {
	counted := map[string]bool{o.ID(): true}
	names := []string{o.Name}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		for id, other := range l.underWay {
			if other.Cluster == o.Cluster && other.Kind == o.Kind && !counted[id] &&
				slices.Contains(other.WaitsFor, name) {
				counted[id] = true
				names = append(names, other.Name)
			}
		}
	}
	return len(counted) - 1
}

// named returns Kind/name.
func named(o *objectUnderWay) string { return oneline.Of(o.Kind+"/"+o.Name, 120) }

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-len(text)))
}

// short formats a duration in whole seconds.
func short(d time.Duration) string { return max(0, d).Truncate(time.Second).String() }
