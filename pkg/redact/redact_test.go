package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/redact"
)

// corpus returns secrets with everything that makes them hard to find.
func corpus() []string {
	return []string{
		"hunter22", "4711", "p@ss/w+rd=?&%20", `quo"te\back/slash'`, "zwei\nZeilen\tund mehr", "grüße-日本-🔑",
		"<script>&amp;", "a+b c", "it's me",
		"  spaces around  ", "****", "***x", "\x00\x01\xff\xfe", "%41%42", `\u0041\n`, strings.Repeat("ab", 3000),
		"REDACTED",
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
	}
}

// encodings returns the forms in which a secret must not survive.
func encodings() map[string]func(string) string {
	asJSON := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			return ""
		}
		return string(text[1 : len(text)-1])
	}
	return map[string]func(string) string{
		"raw":              func(s string) string { return s },
		"base64":           func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 without =": func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
		"base64 for URLs":  func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
		"base64 with a user": func(s string) string {
			return base64.StdEncoding.EncodeToString(
				[]byte("user:" + s + ":x"))
		},
		"base64 with a longer": func(s string) string {
			return base64.StdEncoding.EncodeToString(
				[]byte("a user:" + s + "\n"))
		},
		"base64 in lines": func(s string) string {
			return lines(base64.StdEncoding.EncodeToString([]byte("12345678" + s + "12345678")))
		},
		"JSON":                 asJSON,
		"JSON in JSON":         func(s string) string { return asJSON(asJSON(s)) },
		"JSON in JSON in JSON": func(s string) string { return asJSON(asJSON(asJSON(s))) },
		"URL query":            url.QueryEscape,
		"URL path":             url.PathEscape,
		"URL query, twice":     func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
		"URL query, lower case": func(s string) string {
			return percentage.ReplaceAllStringFunc(url.QueryEscape(s),
				strings.ToLower)
		},
		"URL query in JSON": func(s string) string { return asJSON(url.QueryEscape(s)) },
		"Go":                func(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] },
		"Go, ASCII":         func(s string) string { q := strconv.QuoteToASCII(s); return q[1 : len(q)-1] },
		"YAML":              func(s string) string { return strings.ReplaceAll(s, "'", "''") },
	}
}

var percentage = regexp.MustCompile(`%[0-9A-F]{2}`)

func lines(s string) string {
	var out strings.Builder
	for len(s) > 16 {
		out.WriteString(s[:16] + "\n    ")
		s = s[16:]
	}
	return out.String() + s
}

func TestNoFormOfASecretSurvives(t *testing.T) {
	for _, secret := range corpus() {
		r := redact.New("another one", secret)
		for name, encode := range encodings() {
			form := encode(secret)
			around := [][2]string{{"", ""}, {"before ", " after"}, {`{"a":"`, `"}`}, {"x=", "&y=1"}, {"*", "**"}}
			// These also precede a secret with text that changes its meaning.
			if slices.Contains([]string{"raw", "base64", "JSON", "URL query", "URL path"}, name) {
				around = append(around, [2]string{`\`, `\`}, [2]string{"%2", "%"})
			}
			for _, around := range around {
				text := around[0] + form + around[1]
				got := r.Text(text)
				if strings.Contains(got, strings.TrimSpace(form)) {
					t.Errorf("%q as %s survives in %q: %q", secret, name, text, got)
				}
			}
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	r := redact.New("hunter22", "abc", "", "   ")
	for _, text := range []string{
		"", "abc", "Kustomization/capi waits for cert-manager", "registry.k8s.io/pause:3.10@sha256:0123456789abcdef",
		"https://172.18.0.3:6443/api?timeout=5s", "secretName: kubeadm-capd-ca", "2026-01-02T03:04:05.123456789Z",
		"token expired",
		"docker.io/kindest/node:v1.36.4", "oci://kubeadm-capd-registry:5000/cluster-init/content@sha256:0123",
		"ssh://git@host/x", "https://host/@scope/x", "https://host/x?a=me@b", "no bearer of news", `C:\new\table`,
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := r.Text("user hunter22, path a/hunter22/b\n"); got != "user ***, path a/***/b\n" {
		t.Errorf("more than the secret is gone, or less: %q", got)
	}
}

func TestWhatLooksLikeASecretGoes(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789\nabcdefghijklmnopqrstuvwxyz\n-----END RSA " +
		"PRIVATE KEY-----"
	r := redact.New()
	for _, tc := range []struct{ text, gone string }{
		{"key:\n" + key + "\nnext", "MIIEpAIBAAKCAQEA0123456789"},
		{strings.ReplaceAll(key, "\n", "\n      "), "abcdefghijklmnopqrstuvwxyz"},
		{strings.ReplaceAll(key, "\n", `\n`), "abcdefghijklmnopqrstuvwxyz"},
		{strings.ReplaceAll(key, "\n", `\\n`), "abcdefghijklmnopqrstuvwxyz"},
		{key[:60], "MIIEpAIBAAKCAQEA01234567"},
		{key[40:], "abcdefghijklmnopqrstuvwxyz"},
		{base64.StdEncoding.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(key))[10:40]},
		{base64.StdEncoding.EncodeToString([]byte("a:" + key)), base64.StdEncoding.EncodeToString(
			[]byte("a:" + key))[60:90]},
		{base64.StdEncoding.EncodeToString([]byte("ab:" + key)), base64.StdEncoding.EncodeToString(
			[]byte("ab:" + key))[60:90]},
		{"Authorization: Bearer abcdefgh.ijkl-mnop", "ijkl"},
		{`{"Authorization":"Basic dXNlcjpwYXNz"}`, "dXNlcjpwYXNz"},
		{"saw eyJhbGciOiJSUzI1NiIsImtpZCI6.eyJpc3MiOiJrdWJlcm5l.c2lnbmF0dXJl here", "eyJpc3Mi"},
		{"kubeadm join --token abcdef.0123456789abcdef", "0123456789abcdef"},
		{"K10" + strings.Repeat("0a", 32) + "::server:s3cret", "s3cret"},
		{"proxy http://user:s3cret@proxy:3128/", "s3cret"},
		{"clone https://s3cret@git.example.org/x.git", "s3cret"},
		{"clone https://s3cret:x-oauth-basic@git.example.org/x.git", "s3cret"},
		{`{\"url\":\"https://s3cret@git.example.org/x.git\"}`, "s3cret"},
		{"glpat-0123456789abcdefghij", "0123456789abcdef"},
		{"AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"},
		{"PASSWORD=s3cret x", "s3cret"},
		{`{"password":"s3cret"}`, "s3cret"},
		{`{\"token\": \"s3cret\"}`, "s3cret"},
		{"OS_PASSWORD: s3cret", "s3cret"},
	} {
		if got := r.Text(tc.text); strings.Contains(got, tc.gone) || !strings.Contains(got, redact.Mark) {
			t.Errorf("%q became %q", tc.text, got)
		}
	}
	if got := r.Text("key:\n" + key + "\nnext"); got != "key:\n***\nnext" {
		t.Errorf("more is gone than the key: %q", got)
	}
}

func TestValue(t *testing.T) {
	const text = `
metadata:
  name: hunter22-of-a-name
  managedFields: [{manager: x}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"x":1}', hunter22: key}
spec:
  env: [{name: OS_PASSWORD, value: pass}, {name: REGION, value: here}, {name: DIGITS, value: 12345678}]
  bootstrapToken: {token: short, ttl: 1h}
  secretName: ca
  tokens: [one]
  password: 1
  accessKey: [a, b]
  automountServiceAccountToken: true
  secret: {secretName: ca}
  empty: {token: ""}
  number: 12345678
  other: 42
`
	const want = `metadata:
  annotations:
    hunter22: key
  name: '***-of-a-name'
spec:
  accessKey:
  - '***'
  - '***'
  automountServiceAccountToken: true
  bootstrapToken:
    token: '***'
    ttl: 1h
  empty:
    token: ""
  env:
  - name: OS_PASSWORD
    value: '***'
  - name: REGION
    value: here
  - name: DIGITS
    value: '***'
  number: '***'
  other: 42
  password: '***'
  secret:
    secretName: ca
  secretName: ca
  tokens:
  - '***'
`
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(redact.New("hunter22", "12345678").Value(object))
	if err != nil || string(got) != want {
		t.Errorf("got (%v)\n%s", err, got)
	}
}

// FuzzText verifies that no form of a secret is left, whatever the secret is and whatever surrounds it.
func FuzzText(f *testing.F) {
	for _, secret := range corpus() {
		f.Add("before ", secret, " after", "other")
		f.Add(`\\`, secret, `%2`, secret+"x")
	}
	f.Fuzz(func(t *testing.T, before, secret, after, other string) {
		trimmed := strings.TrimSpace(secret)
		if len(trimmed) < redact.MinLength {
			return // too short to be taken for a secret
		}
		r := redact.New(secret, other)
		for name, encode := range map[string]func(string) string{
			"raw": encodings()["raw"], "base64": encodings()["base64"], "JSON": encodings()["JSON"],
			"URL query": url.QueryEscape, "URL path": url.PathEscape,
		} {
			form := encode(trimmed)
			if got := r.Text(before + form + after); strings.Contains(got, form) {
				t.Errorf("as %s: %q survives in %q", name, form, got)
			}
		}
	})
}
