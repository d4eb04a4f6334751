package environment_test

import (
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// What a variable or a file of secrets holds is in no message about it; the form that is wanted is.
func TestNoMessageQuotesAVariableOrASecret(t *testing.T) {
	for name, tc := range map[string]struct{ values, secrets, want string }{
		"a pattern": {values: "cluster: {kubernetes_version: \"${OS_PASSWORD}\"}\n",
			want: "want text that matches ^v"},
		"a part of a value": {values: "cluster: {kubernetes_version: \"v${OS_PASSWORD}\"}\n",
			want: "want text that matches ^v"},
		"a check of the chart": {values: "cluster: {pod_cidr: \"${OS_PASSWORD}/16\"}\n", want: "cluster.pod_cidr"},
		"a number":             {values: "cluster:\n  control_plane:\n    replicas: ${OS_PORT}\n", want: "want 9"},
		"an even number": {values: "cluster:\n  control_plane:\n    replicas: ${OS_EVEN}\n",
			want: "an even number of control planes"},
		"a file of secrets": {secrets: "cluster: {kubernetes_version: s3cret}\n",
			want: "want text that matches ^v"},
		"an alias":                {secrets: "git_auth_default: {password: *s3cret}\n", want: "put it into quotes"},
		"a brace that stays open": {secrets: "git_auth_default: {password: \"a${s3cret\"}\n", want: "no closing brace"},
		"no name of a variable": {secrets: "git_auth_default: {password: \"a${s3cret!}\"}\n",
			want: "is neither ${NAME}"},
	} {
		t.Run(name, func(t *testing.T) {
			own := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n", "values.yaml": tc.values,
				"secrets.yaml": tc.secrets})
			_, err := environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content(),
				Variables: func(name string) (string, bool) {
					value, known := map[string]string{"OS_PASSWORD": "s3cret", "OS_PORT": "7654321",
						"OS_EVEN": "8"}[name]
					return value, known
				}})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			for _, value := range []string{"s3cret", "7654321", "is 8"} {
				if strings.Contains(err.Error()+fault.HintOf(err), value) {
					t.Errorf("it quotes %s: %v\n%s", value, err, fault.HintOf(err))
				}
			}
		})
	}
}

// What a user has written where everybody may read it is quoted: it helps to find the mistake.
func TestMessagesQuoteOtherValues(t *testing.T) {
	own := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n",
		"values.yaml": "cluster: {kubernetes_version: \"1.36\", pod_cidr: 10.300.0.0/16}\n"})
	_, err := environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content()})
	if err == nil || !strings.Contains(err.Error(), "'1.36' does not match") ||
		!strings.Contains(err.Error(), "cluster.pod_cidr 10.300.0.0/16 is not a range") {
		t.Errorf("got %v", err)
	}
}
