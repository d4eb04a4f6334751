package render

import "strings"

// The colours of a terminal.
const (
	bold       = "\x1b[1m"
	faint      = "\x1b[2m"
	red        = "\x1b[31m"
	green      = "\x1b[32m"
	yellow     = "\x1b[33m"
	plainAgain = "\x1b[0m"
)

func paint(colours bool, colour, text string) string {
	if !colours || text == "" {
		return text
	}
	return colour + text + plainAgain
}

// coloured colours whole lines by their sign, which follows the time.
func (l *Live) coloured(text string) string {
	if !l.colours {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		body, end := strings.CutSuffix(line, "\n")
		colour := colourOf(body)
		if colour == "" {
			continue
		}
		lines[i] = paint(true, colour, body)
		if end {
			lines[i] += "\n"
		}
	}
	return strings.Join(lines, "")
}

func colourOf(line string) string {
	_, after, timed := strings.Cut(line, "s  ")
	switch {
	case strings.HasPrefix(line, "error: "):
		return red
	case !timed:
		return ""
	case strings.HasPrefix(after, "✓"):
		return green
	case strings.HasPrefix(after, "✗"):
		return red
	case strings.HasPrefix(after, "  ! "):
		return yellow
	case strings.HasPrefix(after, "    "):
		return faint
	}
	return ""
}
