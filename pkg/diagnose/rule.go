package diagnose

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// Rule maps a signal of an object to its cause and remedy. Each built-in rule is a file in the folder rules.
type Rule struct {
	Name  string   `json:"-"`     // of its file
	Kinds []string `json:"kinds"` // of the objects that it matches; empty matches all
	// Signal, Reason and Message are regular expressions for the origin, reason and message of a signal. An empty one
	// matches all. Cause and Remedy can use named groups of Message as ${group}, and also ${object}, ${kind},
	// ${object-name}, ${namespace}, ${reason} and ${message}. `$$` in a cause or remedy means a dollar sign.
	Signal  string `json:"signal"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Cause   string `json:"cause"`
	Remedy  string `json:"remedy"`
	// Values are the environment keys to change, appended to the remedy. `*` stands for any name.
	Values []string `json:"values"`
	// Confidence is "low" if the signal can have another cause. Empty means "high".
	Confidence readiness.Confidence `json:"confidence"`
	// Transient reports whether the cause can go away by itself.
	Transient bool `json:"transient"`
	// MatchReady reports whether the rule also matches roots that are ready.
	MatchReady bool `json:"matchReady"`
	// MatchDespiteChildren reports whether the cause is in the object itself. Then the rule also matches if an object
	// below it is not ready.
	MatchDespiteChildren bool `json:"matchDespiteChildren"`
	// Rank orders the rules that match the same object, user rules among themselves: the highest comes first.
	Rank     int       `json:"rank"`
	Examples []Example `json:"examples"`

	signal, reason, message *regexp.Regexp
}

// Example is an observed signal with the cause that the rule gives for it.
type Example struct {
	Object string `json:"object"` // Kind/namespace/name or Kind/name
	Signal
	Cause string `json:"cause"`
	// Version is the software version that it was observed in. Source is a public report of it.
	Version string `json:"version"`
	Source  string `json:"source"`
}

//go:embed rules/*.yaml
var ruleFiles embed.FS

// Rules reads the built-in rules, the highest rank first. An error means that a built-in rule is invalid.
func Rules() ([]Rule, error) {
	names, err := fs.Glob(ruleFiles, "rules/*.yaml")
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, 0, len(names))
	for _, name := range names {
		content, err := ruleFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rule, err := readRule(name, content)
		if err != nil {
			return nil, fmt.Errorf("read the rule %s: %w", name, err)
		}
		rules = append(rules, rule)
	}
	byRank(rules)
	return rules, nil
}

// byRank sorts rules: the highest rank first, and by name those of one rank.
func byRank(rules []Rule) {
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Name, b.Name))
	})
}

func readRule(file string, content []byte) (Rule, error) {
	rule := Rule{Name: strings.TrimSuffix(path.Base(file), ".yaml")}
	if err := unpack.YAML(content); err != nil {
		return rule, err
	}
	if err := refuseFormerKeys(content); err != nil {
		return rule, err
	}
	if err := yaml.UnmarshalStrict(content, &rule); err != nil {
		return rule, err
	}
	if c := rule.Confidence; c != "" && c != readiness.HighConfidence && c != readiness.LowConfidence {
		return rule, fmt.Errorf("confidence %q is neither high nor low", c)
	}
	for _, part := range []struct {
		expression string
		compiled   **regexp.Regexp
	}{{rule.Signal, &rule.signal}, {rule.Reason, &rule.reason}, {rule.Message, &rule.message}} {
		compiled, err := regexp.Compile(part.expression)
		if err != nil {
			return rule, err
		}
		*part.compiled = compiled
	}
	return rule, nil
}

// formerKeys maps keys that rules had in earlier versions to their names now.
var formerKeys = map[string]string{"cure": "remedy", "heals": "transient", "own": "matchDespiteChildren",
	"always": "matchReady", "from": "signal", "likely": "confidence"}

// refuseFormerKeys refuses a rule that was written for an earlier version.
func refuseFormerKeys(content []byte) error {
	var rule map[string]any
	if err := yaml.Unmarshal(content, &rule); err != nil {
		return err
	}
	var problems []string
	for _, former := range slices.Sorted(maps.Keys(formerKeys)) {
		if _, found := rule[former]; found {
			problems = append(problems, fmt.Sprintf("the key %s is now %s", former, formerKeys[former]))
		}
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

func (r Rule) confidence() readiness.Confidence {
	return cmp.Or(r.Confidence, readiness.HighConfidence)
}

// match returns the first signal that the rule matches, with the values of the placeholders for it.
func (r Rule) match(object health.Ref, signals []Signal) (signal Signal, values map[string]string, matches bool) {
	if len(r.Kinds) > 0 && !slices.Contains(r.Kinds, object.Kind) {
		return Signal{}, nil, false
	}
	for _, s := range signals {
		if !r.signal.MatchString(s.Origin) || !r.reason.MatchString(s.Reason) {
			continue
		}
		groups := r.message.FindStringSubmatch(s.Message)
		if groups == nil {
			continue
		}
		values := map[string]string{"object": object.String(), "kind": object.Kind, "object-name": object.Name,
			"$": "$", "namespace": object.Namespace,
			"reason": s.Reason, "message": strings.TrimSpace(s.Message)}
		for i, name := range r.message.SubexpNames() {
			if name != "" {
				values[name] = groups[i]
			}
		}
		return s, values, true
	}
	return Signal{}, nil, false
}

// render returns the cause and the remedy with their placeholders replaced, and the values to change in the remedy.
func (r Rule) render(values map[string]string) (cause, remedy string) {
	cause = os.Expand(r.Cause, func(name string) string { return values[name] })
	remedy = os.Expand(r.Remedy, func(name string) string { // quoted, because people paste commands from it
		if name == "$" {
			return name
		}
		return oneline.Shell(values[name])
	})
	return cause, remedy + valuesSuffix(r.Values)
}

// valuesSuffix returns the suffix of a remedy that names its values.
func valuesSuffix(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return " (values: " + strings.Join(values, ", ") + ")"
}

// firstMatch returns the first rule that matches an object.
func firstMatch(rules []Rule, object health.Ref, signals []Signal) (Finding, bool) {
	for _, rule := range rules {
		if s, values, matches := rule.match(object, signals); matches {
			cause, remedy := rule.render(values)
			return Finding{Object: object.String(), Rule: rule.Name, Past: s.Past, At: s.At, Cause: cause,
				Remedy:     remedy,
				Confidence: rule.confidence(), Transient: rule.Transient, Message: strings.TrimSpace(s.Message),
				matchDespiteChildren: rule.MatchDespiteChildren}, true
		}
	}
	return Finding{}, false
}
