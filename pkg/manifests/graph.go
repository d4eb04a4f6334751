package manifests

import (
	"fmt"
	"strings"
)

// Graph draws the dependencies of the components.
type Graph func(Rendered) string

// Graphs are the output formats, by name: text, mermaid and dot.
func Graphs() map[string]Graph {
	return map[string]Graph{"text": text, "mermaid": mermaid, "dot": dot}
}

// text lists the components in the order in which they can become ready. Those that can at the same time share a
// number.
func text(r Rendered) string {
	var b strings.Builder
	for i, wave := range waves(r.Components) {
		fmt.Fprintf(&b, "%d.\n", i+1)
		for _, c := range wave {
			line := "   " + c.Name
			if len(c.DependsOn) > 0 {
				line += "  (after " + strings.Join(c.DependsOn, ", ") + ")"
			}
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

// waves puts components in the order in which they can become ready. The chart has refused cycles.
func waves(components []Component) [][]Component {
	known, done := map[string]bool{}, map[string]bool{}
	for _, c := range components {
		known[c.Name] = true
	}
	var all [][]Component
	for len(done) < len(components) {
		var wave []Component
		for _, c := range components {
			if !done[c.Name] && ready(c, known, done) {
				wave = append(wave, c)
			}
		}
		if len(wave) == 0 {
			break
		}
		for _, c := range wave {
			done[c.Name] = true
		}
		all = append(all, wave)
	}
	return all
}

func ready(c Component, known, done map[string]bool) bool {
	for _, name := range c.DependsOn {
		if known[name] && !done[name] {
			return false
		}
	}
	return true
}

func mermaid(r Rendered) string {
	node := func(name string) string { return strings.ReplaceAll(name, "-", "_") } // "x--y" would be an arrow
	return drawn(r, "graph LR\n", func(name string) string { return fmt.Sprintf("  %s[%s]\n", node(name), name) },
		func(before, after string) string { return fmt.Sprintf("  %s --> %s\n", node(before), node(after)) }, "")
}

func dot(r Rendered) string {
	return drawn(r, "digraph components {\n  rankdir=LR;\n",
		func(name string) string { return fmt.Sprintf("  %q;\n", name) },
		func(before, after string) string { return fmt.Sprintf("  %q -> %q;\n", before, after) }, "}\n")
}

// drawn writes all components first, then their dependencies.
func drawn(r Rendered, begin string, node func(string) string, edge func(before, after string) string,
	end string) string {
	var b strings.Builder
	b.WriteString(begin)
	for _, c := range r.Components {
		b.WriteString(node(c.Name))
	}
	for _, c := range r.Components {
		for _, before := range c.DependsOn {
			b.WriteString(edge(before, c.Name))
		}
	}
	b.WriteString(end)
	return b.String()
}
