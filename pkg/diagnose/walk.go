package diagnose

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// Finding is a cause with its remedy.
type Finding struct {
	Cluster string `json:"cluster,omitempty"`
	Object  string `json:"object"`
	Rule    string `json:"rule"`
	// Past and At are those of the matched Signal.
	Past   bool      `json:"past,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Cause  string    `json:"cause"`
	Remedy string    `json:"remedy"`
	// Confidence is low if the observation can have another cause.
	Confidence readiness.Confidence `json:"confidence"`
	// Severity is "warning" if nothing waits for it yet, "blocking" if it stops something, and empty for a
	// cause that a rule found.
	Severity readiness.Severity `json:"severity,omitempty"`
	// Transient reports whether the cause can go away by itself.
	Transient bool     `json:"transient"`
	Message   string   `json:"message,omitempty"` // the message of the signal
	Log       []string `json:"log,omitempty"`     // the last lines of a container that ended
	Chain     []Link   `json:"chain,omitempty"`   // from the object that is not ready down to Object
	// Delays are other objects that are not ready for the same cause.
	Delays []string `json:"delays,omitempty"`

	matchDespiteChildren bool
	unconfirmed          bool // no earlier diagnosis has found it as a permanent cause
}

// Lasting reports whether the cause is permanent: high confidence, current, and neither transient nor a warning. After
// Confirmed, two diagnoses have found it.
func (f Finding) Lasting() bool {
	return !f.unconfirmed && f.Confidence == readiness.HighConfidence && !f.Transient && !f.Past &&
		f.Severity != readiness.Warning
}

// Link is an object on the path to a cause.
type Link struct {
	Object  string `json:"object"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
}

// maxDepth limits the length of a chain.
const maxDepth = 16

// examine walks down from each root that is not ready, and matches ready roots against the rules with MatchReady. It
// returns the causes that rules know, and the bottom objects of the other chains.
func (s *Snapshot) examine(roots []health.Ref, rules []Rule) (findings, waiting []Finding) {
	onReady := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !r.MatchReady })
	for _, root := range roots {
		if s.state(root).Status == health.Ready {
			if f, found := firstMatch(onReady, root, s.signals(root)); found {
				findings = s.add(findings, f, []health.Ref{root})
			}
			continue
		}
		paths := s.walk(root)
		explained, above := s.explainAll(paths, rules)
		for i, chain := range paths.chains {
			reported := 0
			for _, e := range explained[i] {
				if e.matchDespiteChildren || !above[chain[e.at]] {
					findings = s.add(findings, e.Finding, chain[:e.at+1])
					reported++
				}
			}
			if bottom := chain[len(chain)-1]; reported == 0 && !paths.shared[bottom] {
				waiting = s.add(waiting, Finding{Object: bottom.String(), Message: s.state(bottom).Message}, chain)
			}
		}
	}
	return findings, waiting
}

type explained struct {
	Finding
	at int // index of the object in its chain
}

// explainAll explains each chain. above are the objects above a cause, on any path: their problem follows from it.
func (s *Snapshot) explainAll(p paths, rules []Rule) (all [][]explained, above map[health.Ref]bool) {
	above = map[health.Ref]bool{}
	var mark func(health.Ref)
	mark = func(r health.Ref) {
		for _, parent := range p.parents[r] {
			if !above[parent] {
				above[parent] = true
				mark(parent)
			}
		}
	}
	for _, chain := range p.chains {
		explained := s.explain(chain, rules)
		for _, e := range explained {
			mark(chain[e.at])
		}
		all = append(all, explained)
	}
	return all, above
}

// explain goes up from the bottom of a chain to the first object that a rule matches. Further up only rules with
// MatchDespiteChildren count.
func (s *Snapshot) explain(chain []health.Ref, rules []Rule) []explained {
	var found []explained
	despiteChildren := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !r.MatchDespiteChildren })
	for i := len(chain) - 1; i >= 0; i-- {
		if f, matches := firstMatch(rules, chain[i], s.signals(chain[i])); matches {
			found = append(found, explained{f, i})
			rules = despiteChildren
		}
	}
	return found
}

// add adds a finding with its chain. If the cause is already known, it adds the root to the delayed objects.
func (s *Snapshot) add(list []Finding, f Finding, chain []health.Ref) []Finding {
	for i := range list {
		if list[i].Object != f.Object || list[i].Rule != f.Rule {
			continue
		}
		root := chain[0].String()
		inChain := slices.ContainsFunc(list[i].Chain, func(l Link) bool { return l.Object == root })
		if !inChain && !slices.Contains(list[i].Delays, root) {
			list[i].Delays = append(list[i].Delays, root)
		}
		return list
	}
	f = s.replaced(f, chain)
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

// paths are the ways from a root down to objects that are not ready.
type paths struct {
	// chains end at an object without such children, in a cycle, at maxDepth, or at an object whose children other
	// chains have reached. shared has the ends of the last kind.
	chains [][]health.Ref
	shared map[health.Ref]bool
	// parents are what waits for an object, on every path, without those that close a cycle.
	parents map[health.Ref][]health.Ref
}

// walk goes down from a root, once through each object.
func (s *Snapshot) walk(root health.Ref) paths {
	all := paths{shared: map[health.Ref]bool{}, parents: map[health.Ref][]health.Ref{}}
	seen := map[health.Ref]bool{root: true}
	var walk func(path []health.Ref)
	walk = func(path []health.Ref) {
		last := path[len(path)-1]
		below := s.unready(last)
		inCycle := slices.ContainsFunc(below, func(r health.Ref) bool { return slices.Contains(path, r) })
		isShared := !slices.ContainsFunc(below, func(r health.Ref) bool { return !seen[r] })
		if isShared || len(path) == maxDepth || inCycle {
			all.chains = append(all.chains, slices.Clone(path))
			all.shared[last] = isShared && len(below) > 0 && !inCycle
		}
		if len(path) == maxDepth {
			return
		}
		for _, next := range below {
			if !slices.Contains(path, next) {
				all.parents[next] = append(all.parents[next], last)
			}
			if !seen[next] { // else another path has led there
				seen[next] = true
				walk(append(path, next))
			}
		}
	}
	walk([]health.Ref{root})
	return all
}

// unready returns the objects that are not ready among those that an object waits for.
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
