package diagnose

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

const rulesHint = "Write each rule as a file NAME.yaml with the keys cause and remedy, and at least one of signal, " +
	"reason and message."

// maxRuleSize is the maximum size of a rule in bytes.
const maxRuleSize = 1 << 20

// ReadRules reads the user's rules from the files of a folder. Its errors have the code fault.Usage and name the file.
func ReadRules(folder string) ([]Rule, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the folder of rules: %w", err), fault.Usage, rulesHint)
	}
	var rules []Rule
	var problems []error
	for _, e := range entries {
		file := filepath.Join(folder, e.Name())
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		content, err := unpack.File(file, maxRuleSize)
		if err != nil {
			problems = append(problems, fmt.Errorf("read the rule: %w", err))
			continue
		}
		rule, err := readRule(file, content)
		if err == nil {
			err = rule.usable()
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("read the rule %s: %w", file, err))
			continue
		}
		rules = append(rules, rule)
	}
	if len(problems) == 0 && len(rules) == 0 {
		problems = append(problems, fmt.Errorf("the folder %s has no file NAME.yaml", folder))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fault.Wrap(err, fault.Usage, rulesHint)
	}
	byRank(rules)
	return rules, nil
}

// usable refuses a rule without a cause or a remedy, or that would match everything.
func (r Rule) usable() error {
	switch {
	case r.Cause == "":
		return errors.New("it has no cause")
	case r.Remedy == "":
		return errors.New("it has no remedy")
	case r.Signal == "" && r.Reason == "" && r.Message == "":
		return errors.New("it matches everything: it has neither signal, nor reason, nor message")
	}
	return nil
}

// withMore puts the rules of more first. They replace rules of the same name.
func withMore(rules, more []Rule) []Rule {
	if len(more) == 0 {
		return rules
	}
	others := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool {
		return slices.ContainsFunc(more, func(m Rule) bool { return m.Name == r.Name })
	})
	return slices.Concat(more, others)
}
