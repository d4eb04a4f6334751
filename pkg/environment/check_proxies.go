package environment

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// proxyPaths are the values with a proxy, noProxyPath is the list of what is reached without one.
func proxyPaths() []string { return []string{"proxies.http_proxy", "proxies.https_proxy"} }

const noProxyPath = "proxies.no_proxy"

// checkProxies refuses proxies and exceptions that programs read differently, or not at all. The schema checks only the
// form of an address.
func (e *Environment) checkProxies() error {
	var problems []error
	for _, path := range proxyPaths() {
		value, _ := at(e.settled[e.lasting()], path)
		if text, isText := value.(string); isText && !e.isUnknown(path) && !isProxy(text) {
			problems = append(problems, fault.New(fault.ValuesInvalid, e.called(path)+": want http://HOST:PORT",
				proxyHint(text)))
		}
	}
	value, _ := at(e.settled[e.lasting()], noProxyPath)
	text, _ := value.(string)
	if wrong := notDirect(text); len(wrong) > 0 && !e.isUnknown(noProxyPath) {
		message := e.called(noProxyPath) + ": want names, .DOMAIN, IP addresses and ranges as 10.0.0.0/8"
		if mayQuoteNoProxy(text) {
			message += ", not " + strings.Join(wrong, ", ")
		}
		problems = append(problems, fault.New(fault.ValuesInvalid, message, directHint(text, wrong[0])))
	}
	return fault.Join(problems...)
}

// WithValidProxies is a lookup of variables without proxies that Load would refuse, for commands that apply nothing.
func WithValidProxies(lookup func(name string) (string, bool)) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		value, found := lookup(name)
		switch lower := strings.ToLower(name); {
		case lower == "no_proxy" && len(notDirect(noProxyList(value))) > 0:
			return "", false
		case (lower == "http_proxy" || lower == "https_proxy") && !isProxy(proxyAddress(value)):
			return "", false
		}
		return value, found
	}
}

// notDirect returns the entries of a no-proxy list that some programs do not understand.
func notDirect(list string) []string {
	var wrong []string
	for _, entry := range strings.Split(list, ",") {
		if entry != "" && !isDirect(entry) {
			wrong = append(wrong, entry)
		}
	}
	return wrong
}

// called is the user's name of a value: a variable by its name, all else by its path and its place.
func (e *Environment) called(path string) string {
	where := strings.TrimSuffix(e.whence(path), ": ")
	if strings.HasPrefix(where, "variable ") {
		return where
	}
	return where + ": " + path
}

// hostName matches a name or an IPv4 address.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$`)

// isProxy reports whether a text is the address of an HTTP proxy, or empty.
func isProxy(text string) bool {
	if text == "" {
		return true
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Opaque != "" ||
		strings.ContainsAny(text, "?#\"\\") {
		return false
	}
	return (parsed.Path == "" || parsed.Path == "/") && isHost(parsed.Hostname()) &&
		(parsed.Port() == "" && !strings.HasSuffix(parsed.Host, ":") || isPort(parsed.Port()))
}

func isHost(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || hostName.MatchString(text)
}

func isPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port > 0 && port < 65536
}

// proxyHint must not quote: an address may contain a password anywhere.
func proxyHint(text string) string {
	scheme, _, _ := strings.Cut(text, "://")
	switch {
	case strings.HasPrefix(scheme, "socks"):
		return "Set an HTTP proxy: some programs in a cluster do not support SOCKS."
	case strings.Contains(text, "@"):
		return `Write it as http://USER:PASSWORD@HOST:PORT, with # as %23, % as %25, / as %2F, ? as %3F and \ as %5C in USER and PASSWORD.`
	}
	return "Write it as http://proxy.example.org:3128, or leave it empty: then there is no proxy."
}

// isDirect reports whether Go, curl and systemd all understand an entry of a no-proxy list.
func isDirect(entry string) bool {
	if _, err := netip.ParsePrefix(entry); err == nil || isHost(strings.TrimPrefix(entry, ".")) {
		return true
	}
	host, port := entry, ""
	if i := strings.LastIndex(entry, ":"); i > 0 {
		host, port = entry[:i], entry[i+1:]
	}
	host = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(host, "["), "."), "]")
	return isHost(host) && isPort(port)
}

// mayQuoteNoProxy reports whether a message may quote entries of a no-proxy list. If the list has an @, each of them
// may be a part of a password: a password may contain the commas and blanks that separate entries.
func mayQuoteNoProxy(list string) bool { return !strings.Contains(list, "@") }

// directHint is the remedy for a wrong entry of a no-proxy list.
func directHint(list, entry string) string {
	switch labels := strings.Split(entry, "."); {
	case !mayQuoteNoProxy(list):
		return "Write HOST or HOST:PORT in place of the entry with an @: a URL and a login do not belong there."
	case entry == "*":
		return "Leave http_proxy and https_proxy empty: then nothing goes through a proxy."
	case slices.Contains(labels, "*"):
		return "Write a network as a range, for example 172.17.0.0/16, and a domain as .example.org."
	}
	return "Separate entries by commas, for example localhost,.example.org,10.0.0.0/8."
}
