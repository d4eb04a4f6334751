package drift

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// signs are what stands before an object, by its change.
var signs = map[Change]string{Create: "+", Update: "~", Delete: "-", Leave: ".", Refused: "!", Unknown: "?"}

// says is what is added for a change that its sign does not say.
var says = map[Change]string{Leave: "no longer applied, and left", Refused: "the API server would refuse it", Unknown: "could not be compared"}

// Print writes a report for people.
func (r Report) Print(out io.Writer) error {
	var b strings.Builder
	for _, c := range r.Clusters {
		c.print(&b)
	}
	if len(r.Clusters) == 0 {
		fmt.Fprintln(&b, "No cluster of it is there: all would be made.")
	} else {
		fmt.Fprintln(&b, r.summary())
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (r Report) summary() string {
	if !r.Differs() && r.Err() == nil {
		return "Nothing differs."
	}
	var what []string
	for _, each := range []struct {
		n    int
		what string
	}{
		{r.Values(), "values differ"}, {r.Count(Create), "objects would be made"}, {r.Count(Update), "changed"}, {r.Count(Delete), "deleted"},
		{r.Count(Leave), "left as they are"}, {r.Count(Refused), "refused"}, {r.Count(Unknown), "could not be compared"},
	} {
		if each.n > 0 {
			what = append(what, fmt.Sprintf("%d %s", each.n, each.what))
		}
	}
	if len(what) == 0 {
		return "Nothing differs in what could be compared."
	}
	return strings.Join(what, ", ") + "."
}

func (c Cluster) print(b *strings.Builder) {
	fmt.Fprintf(b, "%s cluster", c.Name)
	if c.Server != "" {
		fmt.Fprintf(b, ", %s", c.Server)
	}
	fmt.Fprintln(b)
	for _, line := range []string{c.Note, c.Error} {
		if line != "" {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	same, parts := 0, 0
	for _, p := range c.Parts {
		if len(p.Values)+len(p.Objects) == 0 && p.Note == "" {
			same, parts = same+p.Same, parts+1
			continue
		}
		p.print(b)
	}
	if parts > 0 {
		fmt.Fprintf(b, "  %d parts with %d objects are as they would be applied\n", parts, same)
	}
}

func (p Part) print(b *strings.Builder) {
	fmt.Fprintf(b, "  %s", p.Name)
	if p.Note != "" {
		fmt.Fprintf(b, ": %s", p.Note)
	}
	fmt.Fprintln(b)
	for _, f := range p.Values {
		fmt.Fprintf(b, "    ~ %s\n", f)
	}
	for _, o := range p.Objects {
		fmt.Fprintf(b, "    %s %s\n", signs[o.Change], o)
		for _, f := range o.Fields {
			fmt.Fprintf(b, "        %s\n", f)
		}
	}
}

// String is Kind namespace/name, and what becomes of it where its sign does not say.
func (o Object) String() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + o.Name
	}
	text := o.Kind + " " + name
	if says[o.Change] != "" {
		text += " (" + says[o.Change] + ")"
	}
	if o.Message != "" {
		text += ": " + o.Message
	}
	return text
}

// String is for people: a line.
func (f Field) String() string {
	if f.From == nil && f.To == nil {
		return f.Path + ": changed"
	}
	return fmt.Sprintf("%s: %s -> %s", f.Path, short(f.From), short(f.To))
}

const longestShown = 80

// short is a value on a line. A text that is no JSON of its own stands without quotes.
func short(value any) string {
	if value == nil {
		return "none"
	}
	text, isText := value.(string)
	if !isText || strings.ContainsAny(text, "\n\t") {
		encoded, err := json.Marshal(value)
		if err != nil { // nothing that came from JSON
			return "?"
		}
		text = string(encoded)
	}
	if len(text) > longestShown {
		return strings.ToValidUTF8(text[:longestShown], "") + "..."
	}
	return text
}
