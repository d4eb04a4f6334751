package environment

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
)

// normalized returns the documents with each value that has several spellings in the one that all programs read alike.
func (d documents) normalized() documents {
	return documents{values: normalizedValues(d.values), secrets: normalizedValues(d.secrets),
		infraSecrets: normalizedValues(d.infraSecrets)}
}

func normalizedValues(values map[string]any) map[string]any {
	if values == nil {
		return nil
	}
	out := copyMap(values)
	respell(out, proxyAddress, "proxies", "http_proxy")
	respell(out, proxyAddress, "proxies", "https_proxy")
	respell(out, noProxyList, "proxies", "no_proxy")
	respell(out, base64Line, "cluster", "openstack", "clouds_yaml_b64")
	respell(out, base64Line, "cluster", "openstack", "cacert_b64")
	return out
}

// respell replaces the text at a path. A missing or unknown value, or one that is not text, stays as it is.
func respell(values map[string]any, spelling func(string) string, keys ...string) {
	for ; len(keys) > 1; keys = keys[1:] {
		values, _ = values[keys[0]].(map[string]any)
	}
	if text, isText := values[keys[0]].(string); isText && !strings.Contains(text, unknownValue) {
		values[keys[0]] = spelling(text)
	}
}

// schemeless matches a proxy without a scheme, as curl, wget and Docker accept it.
var schemeless = regexp.MustCompile(`^[^/]+:[0-9]+/?$`)

// proxyAddress writes a proxy with its scheme, in lower case.
func proxyAddress(text string) string {
	text = strings.TrimSpace(text)
	if scheme, rest, has := strings.Cut(text, "://"); has {
		return strings.ToLower(scheme) + "://" + rest
	}
	if schemeless.MatchString(text) {
		return "http://" + text
	}
	return text
}

// noProxyList writes a list with commas only, domains with a leading dot only, and IPv6 addresses without brackets:
// programs differ in what else they accept.
func noProxyList(text string) string {
	entries := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	for i, entry := range entries {
		if strings.HasPrefix(entry, "*.") {
			entry = entry[1:]
		}
		if strings.HasPrefix(entry, "[") && strings.HasSuffix(entry, "]") {
			entry = entry[1 : len(entry)-1]
		}
		entries[i] = entry
	}
	return strings.Join(entries, ",")
}

// base64Line writes base64 on one line. Blank content becomes empty: the env.rc of Cluster API's provider for OpenStack
// encodes a line feed if there is no CA.
func base64Line(text string) string {
	text = strings.Join(strings.Fields(text), "")
	if content, err := base64.StdEncoding.DecodeString(text); err == nil && strings.TrimSpace(string(content)) == "" {
		return ""
	}
	return text
}
