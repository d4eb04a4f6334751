package diagnose

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// entry is an entry of a controller's log, with one line or several.
type entry string

var (
	errorEntry     = regexp.MustCompile(`(?i)^E[0-9]{4} |"?level"?[=:] ?"?error|\berror\b|\bfailed\b`)
	quotedError    = regexp.MustCompile(` err=("(?:[^"\\]|\\.)*")`)
	indentedError  = regexp.MustCompile(`(?s) err=<\n(.*?)\n >`)
	klogTime       = regexp.MustCompile(`^[EFIW](\d{4} \d{2}:\d{2}:\d{2})\.\d+ `)
	controllerKind = regexp.MustCompile(` controllerKind="([A-Za-z]+)"`)
)

// entries joins the lines of multi-line entries: klog indents a value with line breaks by tabs, and its end by a
// space.
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

// isError reports whether the entry is an error.
func (e entry) isError() bool { return errorEntry.MatchString(string(e)) }

// err returns the error in an entry, or the whole entry.
func (e entry) err() string {
	if found := quotedError.FindStringSubmatch(string(e)); found != nil {
		if text, err := strconv.Unquote(found[1]); err == nil {
			return text
		}
	}
	if found := indentedError.FindStringSubmatch(string(e)); found != nil {
		return strings.ReplaceAll(strings.TrimPrefix(found[1], "\t"), "\n\t", "\n")
	}
	return string(e)
}

// at returns the time of an entry of klog, which has no year. Zero means not known.
func (e entry) at(now time.Time) time.Time {
	found := klogTime.FindStringSubmatch(string(e))
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

// about reports whether an entry is about an object. Controllers name the object; the one for bootstrap configurations
// names a configuration with the machine's name. For other entries the object's name as a whole word decides, because
// the name of a machine often begins with its cluster's.
func (e entry) about(r health.Ref) bool {
	found := controllerKind.FindStringSubmatch(string(e))
	if found == nil {
		return containsWord(string(e), r.Name)
	}
	return (found[1] == r.Kind || strings.HasSuffix(found[1], "Config")) &&
		strings.Contains(string(e), " "+found[1]+`="`+r.Namespace+"/"+r.Name+`"`)
}

// containsWord reports whether a text contains a name, not as part of a longer name.
func containsWord(text, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		if (from == 0 || text[from-1] == '/' || !inName(text[from-1])) && !continues(text[to:]) {
			return true
		}
		at = from + 1
	}
	return false
}

// continues reports whether a name goes on in the text after it. A dot that ends a sentence is no part of it.
func continues(rest string) bool {
	rest = strings.TrimLeft(rest, ".")
	return rest != "" && inName(rest[0])
}

// inName reports whether a character can be part of an object's name, with a slash for its namespace.
func inName(c byte) bool {
	return c == '-' || c == '.' || c == '/' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}
