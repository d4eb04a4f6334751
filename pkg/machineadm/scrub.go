package machineadm

import (
	"bytes"
	"cmp"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// hidden replaces what a report must not hold.
const hidden = "[hidden]"

// minLine is the length of the shortest line of a file that is looked for.
const minLine = 16

// minSecret is the length of the shortest text that is looked for: shorter ones are parts of words.
const minSecret = 6

// scrubber removes configuration, tokens, keys and certificates from messages.
type scrubber struct {
	secrets []string
	public  []string // digests, which look like keys
}

// patterns are secrets that are known by their form: a bootstrap token, a block of PEM, and the login in a URL.
var patterns = []*regexp.Regexp{
	regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`),
	regexp.MustCompile(`(?s)-----BEGIN [A-Z ]+-----.*?(-----END [A-Z ]+-----|$)`),
	regexp.MustCompile(`://\S*@`),
}

// hexadecimal is a key or a hash.
var hexadecimal = regexp.MustCompile(`\b[0-9a-fA-F]{32,}\b`)

// encoded is a long text in base64, or a path.
var encoded = regexp.MustCompile(`[A-Za-z0-9+/]{40,}={0,2}`)

// clean returns the text without secrets.
func (s *scrubber) clean(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	for _, pattern := range patterns {
		text = pattern.ReplaceAllString(text, hidden)
	}
	text = hexadecimal.ReplaceAllStringFunc(text, func(word string) string {
		if slices.Contains(s.public, word) {
			return word
		}
		return hidden
	})
	return encoded.ReplaceAllStringFunc(text, func(word string) string {
		if strings.ContainsAny(word, "0123456789") && strings.ToLower(word) != word {
			return hidden
		}
		return word
	})
}

// add learns secrets. The longest come first, as one can hold another.
func (s *scrubber) add(secrets ...string) {
	for _, secret := range secrets {
		if len(secret) >= minSecret && !slices.Contains(s.secrets, secret) {
			s.secrets = append(s.secrets, secret)
		}
	}
	slices.SortStableFunc(s.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// addConfig learns the logins of proxies and mirrors, and the contents of files.
func (s *scrubber) addConfig(c Config) {
	if c.Proxy != nil {
		s.addLogin(c.Proxy.HTTP)
		s.addLogin(c.Proxy.HTTPS)
	}
	if c.Containerd != nil {
		for _, mirror := range c.Containerd.RegistryMirrors {
			s.addLogin(mirror.URL)
		}
	}
	if c.Kubernetes != nil {
		for _, file := range c.Kubernetes.Files {
			for _, source := range file.Sources {
				s.addLogin(source.URL)
				s.public = append(s.public, source.SHA256)
			}
		}
	}
	for _, file := range c.Files {
		s.addText(file.Content)
	}
	for _, pod := range c.StaticPods {
		s.addText(pod.Content)
	}
}

func (s *scrubber) addLogin(address string) {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return
	}
	password, _ := u.User.Password()
	s.add(u.User.String(), password, url.QueryEscape(password), url.PathEscape(password))
}

// addText learns the lines of a text, and the values in it.
func (s *scrubber) addText(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			s.add(line)
		}
		if _, value, found := strings.Cut(line, "="); found {
			s.addValue(strings.TrimSpace(value))
		}
	}
	s.addDocuments(text, s.addValue)
}

// addFile learns the secrets in kubeadm's configuration by the names of their fields. All else, such as the name of the
// node, is in kubeadm's errors for a reason. If the file cannot be read, kubeadm cannot read it either.
func (s *scrubber) addFile(path string) {
	content, _ := os.ReadFile(path)
	s.addDocuments(string(content), func(string) {})
}

// addDocuments learns the values of fields that hold secrets by their name, and has other decide on all others.
func (s *scrubber) addDocuments(text string, other func(value string)) {
	for _, document := range bytes.Split([]byte(text), []byte("\n---")) {
		var content any
		if yaml.Unmarshal(document, &content) == nil {
			s.addValues("", content, other)
		}
	}
}

// secretKeys are parts of the names of fields that hold secrets.
var secretKeys = regexp.MustCompile(`(?i)token|key|secret|pass|cred|hash|auth|data`)

func (s *scrubber) addValues(name string, content any, other func(value string)) {
	switch content := content.(type) {
	case map[string]any:
		for key, value := range content {
			if named, isNamed := content["name"].(string); isNamed && key == "value" { // as in the env of a container
				key = named
			}
			s.addValues(key, value, other)
		}
	case []any:
		for _, value := range content {
			s.addValues(name, value, other)
		}
	case string:
		if strings.HasPrefix(content, "/") { // a path
			return
		}
		if secretKeys.MatchString(name) {
			s.add(content)
		} else {
			other(content)
		}
	}
}

// addValue learns a value that looks like a secret: letters and digits, and neither a path nor an address.
func (s *scrubber) addValue(value string) {
	value = strings.Trim(value, `"'`)
	if strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, func(r rune) bool {
		return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}) && !strings.ContainsAny(value, "/.: ") {
		s.add(value)
	}
}
