package diagnose

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// Finding is a cause that was found, and what to do about it.
type Finding struct {
	Cluster string `json:"cluster,omitempty"`
	Object  string `json:"object"`
	Rule    string `json:"rule"`
	// Past and At are those of the Signal that the cause is known from.
	Past   bool      `json:"past,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Cause  string    `json:"cause"`
	Remedy string    `json:"remedy"`
	// Confidence is low where what was seen can have another cause too.
	Confidence readiness.Confidence `json:"confidence"`
	// Severity is "warning" where nothing waits for it yet, and "blocking" where something does not happen because of
	// it; empty where something is not ready.
	Severity readiness.Severity `json:"severity,omitempty"`
	// Transient is whether it can go away by itself.
	Transient bool     `json:"transient"`
	Message   string   `json:"message,omitempty"` // what was seen, in its own words
	Log       []string `json:"log,omitempty"`     // the last lines of a container that ended
	Chain     []Link   `json:"chain,omitempty"`   // from what is not ready down to Object
	// Delays are the other objects that are not ready for the same cause.
	Delays []string `json:"delays,omitempty"`

	own bool // its rule counts whatever else is wrong below the object
}

// Lasting reports whether the confidence is high, and the cause does not go away by itself and is there now.
func (f Finding) Lasting() bool {
	return f.Confidence == readiness.HighConfidence && !f.Transient && !f.Past && f.Severity != readiness.Warning
}

// Link is an object on the way down.
type Link struct {
	Object  string `json:"object"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
}

// deepest is how far down a walk goes: a chain of owners that bites its own tail ends there.
const deepest = 16

// examine walks down from each of roots that is not ready and returns the causes that rules know, and what is at the
// bottom of the rest.
func (s *Snapshot) examine(roots []health.Ref, rules []Rule) (findings, waiting []Finding) {
	always := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !r.MatchReady })
	for _, root := range roots {
		if s.state(root).Status == health.Ready {
			if f, found := firstMatch(always, root, s.signals(root)); found {
				findings = s.add(findings, f, []health.Ref{root})
			}
			continue
		}
		chains := s.chains(root)
		explained, above := s.explainAll(chains, rules)
		for i, chain := range chains {
			said := 0
			for _, e := range explained[i] {
				if e.own || !above[chain[e.at]] {
					findings = s.add(findings, e.Finding, chain[:e.at+1])
					said++
				}
			}
			if said == 0 {
				bottom := chain[len(chain)-1]
				waiting = s.add(waiting, Finding{Object: bottom.String(), Message: s.state(bottom).Message}, chain)
			}
		}
	}
	return findings, waiting
}

type explained struct {
	Finding
	at int // of the object in its chain
}

// explainAll explains each chain. above are the objects on the way down to a cause: what they say follows from it,
// whichever chain they are looked at in.
func (s *Snapshot) explainAll(chains [][]health.Ref, rules []Rule) (all [][]explained, above map[health.Ref]bool) {
	above = map[health.Ref]bool{}
	for _, chain := range chains {
		explained := s.explain(chain, rules)
		for _, e := range explained {
			for _, r := range chain[:e.at] {
				above[r] = true
			}
		}
		all = append(all, explained)
	}
	return all, above
}

// explain goes up from the bottom of a chain to the first object that a rule matches. Further up only those count that
// have a cause of their own.
func (s *Snapshot) explain(chain []health.Ref, rules []Rule) []explained {
	var found []explained
	own := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !r.MatchDespiteChildren })
	for i := len(chain) - 1; i >= 0; i-- {
		if f, matches := firstMatch(rules, chain[i], s.signals(chain[i])); matches {
			found = append(found, explained{f, i})
			rules = own
		}
	}
	return found
}

// add adds a finding with the chain that led to it; a cause that was found before only delays one object more.
func (s *Snapshot) add(list []Finding, f Finding, chain []health.Ref) []Finding {
	for i := range list {
		if list[i].Object != f.Object || list[i].Rule != f.Rule {
			continue
		}
		root := chain[0].String()
		onTheWay := slices.ContainsFunc(list[i].Chain, func(l Link) bool { return l.Object == root })
		if !onTheWay && !slices.Contains(list[i].Delays, root) {
			list[i].Delays = append(list[i].Delays, root)
		}
		return list
	}
	f.Cluster = s.cluster
	if at := chain[len(chain)-1]; at.Kind == "Pod" {
		f.Log = s.logs[at]
	}
	for _, r := range chain {
		state := s.state(r)
		f.Chain = append(f.Chain, Link{Object: r.String(), State: state.Status, Message: state.Message})
	}
	return append(list, f)
}

// chains are the ways from root down to each object at the bottom that is not ready.
func (s *Snapshot) chains(root health.Ref) [][]health.Ref {
	var all [][]health.Ref
	seen := map[health.Ref]bool{root: true}
	var walk func(way []health.Ref)
	walk = func(way []health.Ref) {
		below := s.unready(way[len(way)-1])
		inCircle := slices.ContainsFunc(below, func(r health.Ref) bool { return slices.Contains(way, r) })
		if len(below) == 0 || len(way) == deepest || inCircle {
			all = append(all, slices.Clone(way))
		}
		if len(way) == deepest {
			return
		}
		for _, next := range below {
			if !seen[next] { // else another way has led there
				seen[next] = true
				walk(append(way, next))
			}
		}
	}
	walk([]health.Ref{root})
	return all
}

// unready are the objects that are not ready among those that an object waits for.
func (s *Snapshot) unready(r health.Ref) []health.Ref {
	var list []health.Ref
	add := func(next health.Ref) {
		if next != r && !slices.Contains(list, next) {
			list = append(list, next)
		}
	}
	if u := s.objects[r]; u != nil {
		for _, e := range edges(u) {
			if s.objects[e.To] != nil && s.state(e.To).Status != health.Ready || e.Required && s.absent(e.To) {
				add(e.To)
			}
		}
	}
	for _, next := range s.below[r] {
		if s.state(next).Status != health.Ready {
			add(next)
		}
	}
	return list
}
