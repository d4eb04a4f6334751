package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

// chain is docker's own for the user's rules. They come before those that keep docker's networks apart.
const chain = "DOCKER-USER"

// commented finds the comment of a rule in the output of `iptables -S`.
var commented = regexp.MustCompile(`--comment "?([^ "]+)"?`)

// setRules accepts what a cloud's router would let through: what machines send out of their networks, what comes to a
// floating or a shared address, and the answers to both. Each rule carries a comment that tells the cloud and the rule,
// by which it is found again; all others are left alone.
func (e Engine) setRules(ctx context.Context, hasNetworks bool, reached []netip.Addr) error {
	out, err := iptables(ctx, "-S", chain)
	if err != nil {
		return err
	}
	have := e.ownRules(out)
	var want []string
	if hasNetworks {
		want = []string{"out", "answers-out", "answers-in"}
	}
	for _, address := range reached {
		want = append(want, address.String())
	}
	var failed []error
	for _, rule := range have {
		if !slices.Contains(want, rule) {
			_, err := iptables(ctx, append([]string{"-D", chain}, e.rule(rule)...)...)
			failed = append(failed, err)
		}
	}
	for _, rule := range want {
		if !slices.Contains(have, rule) {
			_, err := iptables(ctx, append([]string{"-I", chain}, e.rule(rule)...)...)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// ownRules returns the rules of the cloud among those that iptables has listed.
func (e Engine) ownRules(listed string) []string {
	var found []string
	for line := range strings.Lines(listed) {
		if match := commented.FindStringSubmatch(line); match != nil {
			if rule, own := strings.CutPrefix(match[1], e.comment("")); own {
				found = append(found, rule)
			}
		}
	}
	return found
}

func (e Engine) comment(rule string) string {
	return fmt.Sprintf("%s=%s#%s", cloudLabel, e.Cloud, rule)
}

// rule returns what makes a rule: one of the three for all networks, or the one for an address.
func (e Engine) rule(name string) []string {
	established := []string{"-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"}
	all := bridgePrefix + "+"
	var match []string
	switch name {
	case "out":
		match = []string{"-i", all, "!", "-o", all}
	case "answers-out":
		match = append([]string{"-i", all}, established...)
	case "answers-in":
		match = append([]string{"-o", all}, established...)
	default:
		match = []string{"-d", name, "-o", all}
	}
	return append(match, "-m", "comment", "--comment", e.comment(name), "-j", "ACCEPT")
}

func iptables(ctx context.Context, args ...string) (string, error) {
	return host.Run(ctx, host.Command{Name: "iptables", Args: append([]string{"--wait"}, args...)})
}
