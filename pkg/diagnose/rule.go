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

// Rule says what a signal of an object means, and what to do. It is data, one file for each in the folder rules.
type Rule struct {
	Name  string   `json:"-"`     // of its file
	Kinds []string `json:"kinds"` // of the objects that it is for; none: all
	// From, Reason and Message are regular expressions for the parts of a signal; an empty one matches all. Named
	// groups of Message can be used as ${group} in Cause and Remedy, as can ${object}, ${kind}, ${object-name},
	// ${namespace}, ${reason} and ${message}.
	From    string `json:"signal"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Cause   string `json:"cause"`
	Remedy  string `json:"remedy"`
	// Values are the keys of the environment's values that the remedy is about; a star stands for a name. They are said
	// with it.
	Values []string `json:"values"`
	// Confidence is "low" where the signal can have another cause too. Empty means "high".
	Confidence readiness.Confidence `json:"confidence"`
	// Transient is whether it can go away by itself.
	Transient bool `json:"transient"`
	// MatchReady is whether it counts also for an object that is ready.
	MatchReady bool `json:"matchReady"`
	// MatchDespiteChildren is whether the cause is in the object itself, and counts too where something below the
	// object is not ready either.
	MatchDespiteChildren bool `json:"matchDespiteChildren"`
	// Rank puts a rule before others (higher) or behind them (lower) that match the same object.
	Rank     int       `json:"rank"`
	Examples []Example `json:"examples"`

	from, reason, message *regexp.Regexp
}

// Example is a signal as it was seen, and what the rule says of it.
type Example struct {
	Object string `json:"object"` // Kind/namespace/name or Kind/name
	Signal
	Cause string `json:"cause"`
	// Version is of what it was seen in, and Source a public report of it.
	Version string `json:"version"`
	Source  string `json:"source"`
}

//go:embed rules/*.yaml
var files embed.FS

// Rules reads the rules, the most specific first. An error is one of the build.
func Rules() ([]Rule, error) {
	names, err := fs.Glob(files, "rules/*.yaml")
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, 0, len(names))
	for _, name := range names {
		content, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rule, err := readRule(name, content)
		if err != nil {
			return nil, fmt.Errorf("read the rule %s: %w", name, err)
		}
		rules = append(rules, rule)
	}
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Name, b.Name))
	})
	return rules, nil
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
	for expression, into := range map[*string]**regexp.Regexp{&rule.From: &rule.from, &rule.Reason: &rule.reason,
		&rule.Message: &rule.message} {
		compiled, err := regexp.Compile(*expression)
		if err != nil {
			return rule, err
		}
		*into = compiled
	}
	return rule, nil
}

// formerKeys are the names that keys of a rule had in earlier versions, and their names now.
func formerKeys() map[string]string {
	return map[string]string{"cure": "remedy", "heals": "transient", "own": "matchDespiteChildren",
		"always": "matchReady", "from": "signal", "likely": "confidence"}
}

// refuseFormerKeys refuses a rule that was written for an earlier version.
func refuseFormerKeys(content []byte) error {
	var rule map[string]any
	if err := yaml.Unmarshal(content, &rule); err != nil {
		return err
	}
	var problems []string
	for _, former := range slices.Sorted(maps.Keys(formerKeys())) {
		if _, there := rule[former]; there {
			problems = append(problems, fmt.Sprintf("the key %s is now %s", former, formerKeys()[former]))
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

// match returns the first of signals that the rule is for, and its words for the cause and the remedy.
func (r Rule) match(object health.Ref, signals []Signal) (s Signal, cause, remedy string, matches bool) {
	if len(r.Kinds) > 0 && !slices.Contains(r.Kinds, object.Kind) {
		return s, "", "", false
	}
	for _, s := range signals {
		if !r.from.MatchString(s.From) || !r.reason.MatchString(s.Reason) {
			continue
		}
		found := r.message.FindStringSubmatch(s.Message)
		if found == nil {
			continue
		}
		values := map[string]string{"object": object.String(), "kind": object.Kind, "object-name": object.Name,
			"$": "$", "namespace": object.Namespace,
			"reason": s.Reason, "message": strings.TrimSpace(s.Message)}
		for i, name := range r.message.SubexpNames() {
			if name != "" {
				values[name] = found[i]
			}
		}
		cause := os.Expand(r.Cause, func(name string) string { return values[name] })
		remedy := os.Expand(r.Remedy, func(name string) string { // it has commands, which people paste
			if name == "$" {
				return name
			}
			return oneline.Shell(values[name])
		})
		return s, cause, remedy + keys(r.Values), true
	}
	return s, "", "", false
}

// keys says which values a remedy is about.
func keys(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return " (values: " + strings.Join(values, ", ") + ")"
}

// firstMatch returns the first rule that matches an object.
func firstMatch(rules []Rule, object health.Ref, signals []Signal) (Finding, bool) {
	for _, rule := range rules {
		if s, cause, remedy, matches := rule.match(object, signals); matches {
			return Finding{Object: object.String(), Rule: rule.Name, Past: s.Past, At: s.At, Cause: cause,
				Remedy:     remedy,
				Confidence: rule.confidence(), Transient: rule.Transient, Message: strings.TrimSpace(s.Message),
				own: rule.MatchDespiteChildren}, true
		}
	}
	return Finding{}, false
}
