package drift

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// signs are the prefixes of objects, by their change.
var signs = map[Change]string{Create: "+", Update: "~", Delete: "-", Leave: ".", Refused: "!", Unknown: "?"}

// explanations are for changes whose sign is not enough.
var explanations = map[Change]string{Leave: "no longer applied, not deleted", Refused: "the API server would refuse it",
	Unknown: "could not be compared"}

// Print writes a report for people.
func (r Report) Print(out io.Writer) error {
	var b strings.Builder
	for _, c := range r.Clusters {
		c.print(&b)
	}
	if r.Note != "" {
		fmt.Fprintln(&b, r.Note)
	}
	switch {
	case len(r.Clusters) == 0:
		fmt.Fprintln(&b, "No cluster exists yet: everything would be created.")
	case !r.compared():
		fmt.Fprintln(&b, "Nothing was compared.")
	default:
		fmt.Fprintln(&b, r.summary())
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// compared reports whether a part of a cluster was compared, or a cluster has nothing of the environment yet. Clusters
// that did not answer from the start, and those with suspended Flux, have no parts.
func (r Report) compared() bool {
	return slices.ContainsFunc(r.Clusters, func(c Cluster) bool {
		return c.All || slices.ContainsFunc(c.Parts, Part.compared)
	})
}

// compared reports whether the part was compared. If not, it has only a note.
func (p Part) compared() bool {
	return p.Note == "" || p.All || p.Same+len(p.Values)+len(p.Objects) > 0
}

func (r Report) summary() string {
	partly := slices.ContainsFunc(r.Clusters, func(c Cluster) bool {
		return slices.ContainsFunc(c.Parts, func(p Part) bool { return !p.compared() })
	})
	if !r.Differs() && r.Err() == nil && !partly {
		return "Nothing differs."
	}
	var what []string
	add := func(n int, thing, more string) {
		if n > 0 {
			what = append(what, oneline.Count(n, thing)+more)
		}
	}
	add(r.Values(), "value", "")
	add(r.Count(Create), "object", " to create")
	add(r.Count(Update), "object", " to change")
	add(r.Count(Delete), "object", " to delete")
	add(r.Count(Leave), "object", " to leave unchanged")
	add(r.Count(Refused), "object", " that would be refused")
	add(r.Count(Unknown), "object", " that could not be compared")
	if r.missing() {
		what = append(what, "what does not exist yet")
	}
	if len(what) == 0 {
		return "Nothing differs in what could be compared."
	}
	return "Differences: " + strings.Join(what, ", ") + "."
}

func (c Cluster) print(b *strings.Builder) {
	oneline.Fprintf(b, "%s cluster", c.Name)
	if c.Server != "" {
		oneline.Fprintf(b, ", %s", c.Server)
	}
	fmt.Fprintln(b)
	for _, line := range []string{c.Note, c.Error} {
		if line != "" {
			oneline.Fprintf(b, "  %s\n", line)
		}
	}
	sameObjects, sameParts := 0, 0
	for _, p := range c.Parts {
		if len(p.Values)+len(p.Objects) == 0 && p.Note == "" && !p.All {
			sameObjects, sameParts = sameObjects+p.Same, sameParts+1
			continue
		}
		p.print(b)
	}
	if sameParts > 0 {
		oneline.Fprintf(b, "  unchanged: %s with %s\n", oneline.Count(sameParts, "part"),
			oneline.Count(sameObjects, "object"))
	}
}

// maxNewObjects is the most objects that are printed of a part with only new objects. For more, only their number is
// printed.
const maxNewObjects = 3

func (p Part) print(b *strings.Builder) {
	oneline.Fprintf(b, "  %s", p.Name)
	if p.Note != "" {
		oneline.Fprintf(b, ": %s", p.Note)
	}
	fmt.Fprintln(b)
	for _, f := range p.Values {
		oneline.Fprintf(b, "    ~ %s\n", f)
	}
	if n := len(p.Objects); n > maxNewObjects && p.Same == 0 &&
		!slices.ContainsFunc(p.Objects, func(o Object) bool { return o.Change != Create }) {
		oneline.Fprintf(b, "    + all of its %d objects\n", n)
		return
	}
	for _, o := range p.Objects {
		oneline.Fprintf(b, "    %s %s\n", signs[o.Change], o)
		for _, f := range o.Fields {
			oneline.Fprintf(b, "        %s\n", f)
		}
	}
}

// String returns Kind namespace/name, with an explanation if the sign is not enough, and the message.
func (o Object) String() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + o.Name
	}
	text := o.Kind + " " + name
	if explanations[o.Change] != "" {
		text += " (" + explanations[o.Change] + ")"
	}
	if o.Message != "" {
		text += ": " + o.Message
	}
	return text
}

// String returns the difference as PATH: FROM -> TO.
func (f Field) String() string {
	if f.From == nil && f.To == nil {
		return f.Path + ": changed"
	}
	return oneline.Sprintf("%s: %s -> %s", f.Path, short(f.From), short(f.To))
}

// maxValueLength limits a printed value in bytes.
const maxValueLength = 80

// short returns a value on one line, truncated. Text with tabs or line breaks, and all other types, are shown as JSON.
func short(value any) string {
	if value == nil {
		return "none"
	}
	text, isText := value.(string)
	if !isText || strings.ContainsAny(text, "\n\t") {
		encoded, err := json.Marshal(value)
		if err != nil { // impossible for values that came from JSON
			return "?"
		}
		text = string(encoded)
	}
	if len(text) > maxValueLength {
		return strings.ToValidUTF8(text[:maxValueLength], "") + "..."
	}
	return text
}
