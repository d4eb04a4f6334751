package suggest_test

import (
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/suggest"
)

func TestNear(t *testing.T) {
	environments := []string{"rke2-capd", "kubeadm-capo", "kubeadm-capd", "kubeadm-capa"}
	for name, tc := range map[string]struct {
		typed string
		known []string
		want  []string
	}{
		"a letter is missing": {"lst", []string{"show", "list"}, []string{"list"}},
		"a letter too many":   {"statuss", []string{"status", "show"}, []string{"status"}},
		"two are swapped":     {"kubeadm-cadp", environments, []string{"kubeadm-capd"}},
		"another case":        {"RKE2-CAPD", environments, []string{"rke2-capd"}},
		"several are as near": {"kubeadm-cap", environments, []string{"kubeadm-capa", "kubeadm-capd",
			"kubeadm-capo"}},
		"only begun":                {"rke", environments, []string{"rke2-capd"}},
		"near is better than begun": {"shot", []string{"shotgun-wedding", "show"}, []string{"show"}},
		"nothing in common":         {"re", []string{"up"}, nil},
		"none is near":              {"clean", environments, nil},
		"nothing typed":             {"", environments, nil},
		"nothing known":             {"up", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := suggest.Near(tc.typed, tc.known); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestHint(t *testing.T) {
	if got, want := suggest.Hint("bsh", []string{"bash", "zsh", "fish"}, "cluster-init completion "),
		"Did you mean this: cluster-init completion bash\nDid you mean this: cluster-init completion zsh\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := suggest.Hint("nushell", []string{"bash"}, ""); got != "" {
		t.Errorf("got %q", got)
	}
}
