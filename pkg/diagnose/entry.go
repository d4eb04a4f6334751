package diagnose

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// entry is one of a controller's log, of one line or of several.
type entry string

var (
	complains = regexp.MustCompile(`(?i)^E[0-9]{4} |"?level"?[=:] ?"?error|\berror\b|\bfailed\b`)
	quoted    = regexp.MustCompile(` err=("(?:[^"\\]|\\.)*")`)
	indented  = regexp.MustCompile(`(?s) err=<\n(.*?)\n >`)
	written   = regexp.MustCompile(`^[EFIW](\d{4} \d{2}:\d{2}:\d{2})\.\d+ `)
	ofKind    = regexp.MustCompile(` controllerKind="([A-Za-z]+)"`)
)

// entries puts together what klog writes over several lines: a value with line breaks is set off by tabs, and its end
// by a blank.
func entries(lines []string) []entry {
	var list []entry
	for _, line := range lines {
		if len(list) > 0 && (strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " >")) {
			list[len(list)-1] += entry("\n" + line)
			continue
		}
		list = append(list, entry(line))
	}
	return list
}

// complains says whether it tells of an error.
func (e entry) complains() bool { return complains.MatchString(string(e)) }

// err is the error that an entry is about, or else the whole entry.
func (e entry) err() string {
	if found := quoted.FindStringSubmatch(string(e)); found != nil {
		if text, err := strconv.Unquote(found[1]); err == nil {
			return text
		}
	}
	if found := indented.FindStringSubmatch(string(e)); found != nil {
		return strings.ReplaceAll(strings.TrimPrefix(found[1], "\t"), "\n\t", "\n")
	}
	return string(e)
}

// at is when klog wrote an entry, which has no year; zero where it does not say.
func (e entry) at(now time.Time) time.Time {
	found := written.FindStringSubmatch(string(e))
	if found == nil {
		return time.Time{}
	}
	at, err := time.Parse("2006 0102 15:04:05", strconv.Itoa(now.UTC().Year())+" "+found[1])
	if err != nil {
		return time.Time{}
	}
	if at.After(now.Add(24 * time.Hour)) {
		at = at.AddDate(-1, 0, 0)
	}
	return at
}

// about says whether an entry is about an object. A controller says which one it was at, one of bootstrap
// configurations that of a machine of the same name; of other entries the name in them decides, as a word of its own:
// that of a machine is often longer than its cluster's by a few letters.
func (e entry) about(r health.Ref) bool {
	found := ofKind.FindStringSubmatch(string(e))
	if found == nil {
		return containsWord(string(e), r.Name)
	}
	return (found[1] == r.Kind || strings.HasSuffix(found[1], "Config")) &&
		strings.Contains(string(e), " "+found[1]+`="`+r.Namespace+"/"+r.Name+`"`)
}

// containsWord says whether a name is in a text, and not as a part of a longer one.
func containsWord(text, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		if (from == 0 || text[from-1] == '/' || !inName(text[from-1])) && (to == len(text) || !inName(text[to])) {
			return true
		}
		at = from + 1
	}
	return false
}

// inName says whether a letter can be part of the name of an object. With a slash it is a namespace.
func inName(c byte) bool {
	return c == '-' || c == '.' || c == '/' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}
