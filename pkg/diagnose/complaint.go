package diagnose

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// complaint is an entry of a controller's log that tells of an error.
type complaint struct {
	entry string
	text  string // the error that it is about, or else the whole entry
}

// complaints are the entries of a log that tell of an error, the oldest first.
func complaints(lines []string) []complaint {
	var found []complaint
	for _, entry := range entries(lines) {
		if complains.MatchString(entry) {
			found = append(found, complaint{entry, errorOf(entry)})
		}
	}
	return found
}

var (
	complains = regexp.MustCompile(`(?i)^E[0-9]{4} |"?level"?[=:] ?"?error|\berror\b|\bfailed\b`)
	quoted    = regexp.MustCompile(` err=("(?:[^"\\]|\\.)*")`)
	indented  = regexp.MustCompile(`(?s) err=<\n(.*?)\n >`)
	ofKind    = regexp.MustCompile(` controllerKind="([A-Za-z]+)"`)
)

// entries puts together what klog writes over several lines: a value with line breaks is set off by tabs, and its end by a blank.
func entries(lines []string) []string {
	var list []string
	for _, line := range lines {
		if len(list) > 0 && (strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " >")) {
			list[len(list)-1] += "\n" + line
			continue
		}
		list = append(list, line)
	}
	return list
}

// errorOf is the error that an entry of klog is about, or else the whole entry.
func errorOf(entry string) string {
	if found := quoted.FindStringSubmatch(entry); found != nil {
		if text, err := strconv.Unquote(found[1]); err == nil {
			return text
		}
	}
	if found := indented.FindStringSubmatch(entry); found != nil {
		return strings.ReplaceAll(strings.TrimPrefix(found[1], "\t"), "\n\t", "\n")
	}
	return entry
}

// about says whether a complaint is about an object. A controller says which one it was at; of other entries the name in them decides, as a word of its own: that of a machine is
// often longer than its cluster's by a few letters.
func (c complaint) about(r health.Ref) bool {
	if found := ofKind.FindStringSubmatch(c.entry); found != nil {
		return found[1] == r.Kind && strings.Contains(c.entry, " "+r.Kind+`="`+r.Namespace+"/"+r.Name+`"`)
	}
	return containsWord(c.entry, r.Name)
}

// containsWord says whether a name is in a text, and not as a part of a longer one.
func containsWord(text, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		if (from == 0 || !inName(text[from-1])) && (to == len(text) || !inName(text[to])) {
			return true
		}
		at = from + 1
	}
	return false
}

// inName says whether a letter can be part of the name of an object.
func inName(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}
