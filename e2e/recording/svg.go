package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// frame is what the terminal shows from an instant on.
type frame struct {
	at   time.Duration // in the picture
	rows [][]cell
}

// span is the time in which a row has one content.
type span struct {
	row      int
	cells    []cell
	from, to time.Duration // multiples of instant
	ended    bool          // at to; else it stays
}

// The geometry of the picture, in pixels.
const (
	charWidth  = 8.0
	lineHeight = 18
	margin     = 16
	atEnd      = 4 * time.Second // how long the last frame stays
)

const style = `<style>
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d6deeb; white-space: pre }
.b { font-weight: bold } .f { fill: #8a98ab } .r { fill: #ff7b72 } .g { fill: #7ee787 } .y { fill: #f2cc60 }
</style>`

// instant is the unit of times in the picture. A browser takes a duration of zero for an endless one.
const instant = 10 * time.Millisecond

// draw writes the frames as one SVG that plays them again and again. Where animations are off, it shows the last one.
func draw(out io.Writer, frames []frame) error {
	total := frames[len(frames)-1].at + atEnd
	w, h := int(width*charWidth)+2*margin, height*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n", w, h)
	b.WriteString("<title>cluster-init up on a terminal, a real run, played faster</title>\n" + style + "\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="10" fill="#011627">`, w, h)
	fmt.Fprintf(&b, `<animate id="run" attributeName="opacity" from="1" to="1" begin="0s;run.end" dur="%s"/></rect>`+
		"\n", seconds(total))
	fmt.Fprintf(&b, `<svg x="%d" y="%d" width="%d" height="%d"><g>`+"\n", margin, margin, w-2*margin, h-2*margin)
	b.WriteString(scroll(frames, total))
	for _, s := range spans(frames) {
		b.WriteString(s.text())
	}
	b.WriteString("</g></svg>\n</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// scroll moves the rows up when there are more than fit.
func scroll(frames []frame, total time.Duration) string {
	var values, times []string
	last := -1
	for _, f := range frames {
		top := max(0, len(f.rows)-height)
		if top == last {
			continue
		}
		last = top
		values = append(values, fmt.Sprintf("0 %d", -top*lineHeight))
		times = append(times, fmt.Sprintf("%.4f", f.at.Seconds()/total.Seconds()))
	}
	times[0] = "0"
	return fmt.Sprintf(`<animateTransform attributeName="transform" type="translate" calcMode="discrete" `+
		`begin="run.begin" dur="%s" fill="freeze" values="%s" keyTimes="%s"/>`+"\n", seconds(total),
		strings.Join(values, ";"), strings.Join(times, ";"))
}

// spans returns the contents of all rows, each with its time.
func spans(frames []frame) []span {
	var all []span
	open := map[int]int{} // row -> index in all
	for _, f := range frames {
		at := f.at.Round(instant)
		for row := range max(len(f.rows), len(open)) {
			var now []cell
			if row < len(f.rows) {
				now = f.rows[row]
			}
			i, is := open[row]
			if is && slices.Equal(all[i].cells, now) {
				continue
			}
			if is && !all[i].ended {
				all[i].to, all[i].ended = at, true
			}
			open[row] = len(all)
			all = append(all, span{row: row, cells: now, from: at})
		}
	}
	return slices.DeleteFunc(all, func(s span) bool { return len(s.cells) == 0 || s.ended && s.to == s.from })
}

// text draws a span.
func (s span) text() string {
	var b strings.Builder
	visibility, animation := "", ""
	switch {
	case s.ended:
		visibility = ` visibility="hidden"`
		animation = fmt.Sprintf(`<set attributeName="visibility" to="visible" begin="run.begin+%s" dur="%s"/>`,
			seconds(s.from), seconds(s.to-s.from))
	case s.from > 0:
		animation = fmt.Sprintf(`<set attributeName="visibility" to="hidden" begin="run.begin" dur="%s"/>`,
			seconds(s.from))
	}
	fmt.Fprintf(&b, `<text y="%d"%s>%s`, s.row*lineHeight+lineHeight-4, visibility, animation)
	for len(s.cells) > 0 {
		class := s.cells[0].class
		n := slices.IndexFunc(s.cells, func(c cell) bool { return c.class != class })
		if n < 0 {
			n = len(s.cells)
		}
		b.WriteString(runOf(class, s.cells[:n]))
		s.cells = s.cells[n:]
	}
	b.WriteString("</text>\n")
	return b.String()
}

// runOf draws cells of one style.
func runOf(class string, cells []cell) string {
	var text, escaped strings.Builder
	for _, c := range cells {
		text.WriteRune(c.r)
	}
	_ = xml.EscapeText(&escaped, []byte(text.String())) // a strings.Builder never fails
	if class == "" {
		return escaped.String()
	}
	return fmt.Sprintf(`<tspan class="%s">%s</tspan>`, class, escaped.String())
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }
