package kube

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

// kubeconfigOf is one of a cluster with this authority.
func kubeconfigOf(t *testing.T, authority, server string) []byte {
	t.Helper()
	return kubeconfig.Of(t, authority, server)
}

// contextAlone has a current context that names a cluster and a user which are not there.
const contextAlone = `{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}]}`

// Same, other and not comparable are three answers: who trusts whatever the machine trusts may well be of the same
// cluster.
func TestAClusterIsKnownByItsAuthority(t *testing.T) {
	ours := kubeconfigOf(t, "ours", "https://10.0.0.1:6443")
	bundle := func(names ...string) []byte {
		return kubeconfig.Of(t, "", "https://x", func(c *api.Cluster, _ *api.AuthInfo) {
			for _, name := range names {
				c.CertificateAuthorityData = append(c.CertificateAuthorityData, kubeconfig.Authority(t, name)...)
			}
		})
	}
	cases := map[string]struct {
		one, other []byte
		want       Identity
	}{
		"the same at another address": {ours, kubeconfigOf(t, "ours", "https://127.0.0.1:32768"), Same},
		"another at the same address": {ours, kubeconfigOf(t, "theirs", "https://10.0.0.1:6443"), Other},
		"one that names no authority": {ours, kubeconfigOf(t, "", "https://10.0.0.1:6443"), Incomparable},
		"two that name none": {kubeconfigOf(t, "", "https://x"), kubeconfigOf(t, "", "https://x"),
			Incomparable},
		"no kubeconfig":                       {ours, []byte("<html>please log in</html>"), Incomparable},
		"half of one":                         {ours, ours[:len(ours)/2], Incomparable},
		"nothing":                             {ours, nil, Incomparable},
		"a context without its cluster":       {ours, []byte(contextAlone), Incomparable},
		"two authorities in another order":    {bundle("ours", "next"), bundle("next", "ours"), Same},
		"one of two, as while it is replaced": {ours, bundle("ours", "next"), Incomparable},
		"two of others":                       {ours, bundle("theirs", "next"), Other},
	}
	for name, tc := range cases {
		if got := Compare(tc.one, tc.other); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if got := Compare(tc.other, tc.one); got != tc.want {
			t.Errorf("%s, the other way round: %s", name, got)
		}
		if SameCluster(tc.one, tc.other) != (tc.want == Same) {
			t.Errorf("%s: for sure", name)
		}
	}
}

// A kubeconfig that expires later, or at an unknown time, replaces the saved one. A user's own stays.
func TestNewer(t *testing.T) {
	ending := func(year int) []byte {
		return kubeconfig.Of(t, "ours", "https://a", func(_ *api.Cluster, u *api.AuthInfo) {
			u.ClientCertificateData, u.ClientKeyData = kubeconfig.Administrator(
				t, "ours", time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		})
	}
	token := kubeconfig.Of(t, "ours", "https://a",
		func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{Token: "t"} })
	newToken := kubeconfig.Of(t, "ours", "https://a",
		func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{Token: "u"} })
	program := kubeconfig.Of(t, "ours", "https://a",
		func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{Exec: &api.ExecConfig{Command: "login"}} })
	for name, tc := range map[string]struct {
		fresh, used []byte
		newer       bool
	}{
		"it ends later":                     {ending(2028), ending(2027), true},
		"it ends sooner":                    {ending(2027), ending(2028), false},
		"it is the same":                    {ending(2027), ending(2027), false},
		"a token in place of a certificate": {token, ending(2027), true},
		"another token":                     {newToken, token, true},
		"the same token":                    {token, token, false},
		"a program in place of it":          {program, ending(2027), false},
		"the user's own program":            {ending(2028), program, false},
		"the one that is used is none":      {ending(2028), []byte("x"), false},
	} {
		if got := Newer(tc.fresh, tc.used); got != tc.newer {
			t.Errorf("%s: newer %t", name, got)
		}
	}
}

func TestAtServerOf(t *testing.T) {
	at := kubeconfig.Of(t, "ours", "https://127.0.0.1:32768",
		func(c *api.Cluster, _ *api.AuthInfo) { c.TLSServerName = "172.18.0.3" })
	got, err := AtServerOf(kubeconfigOf(t, "ours", "https://172.18.0.3:6443"), at)
	if err != nil || string(got) != string(at) {
		t.Errorf("%v\n%s", err, got)
	}
	for _, broken := range []string{"{", "current-context: x", contextAlone} {
		if _, err := AtServerOf(at, []byte(broken)); err == nil {
			t.Errorf("%q is no kubeconfig", broken)
		}
	}
}

func TestListensHere(t *testing.T) {
	for server, here := range map[string]bool{"https://127.0.0.1:6443": true, "https://localhost:6443": true,
		"https://[::1]:6443": true, "https://172.18.0.3:6443": false, "https://api.example.org": false} {
		if got := ListensHere(kubeconfigOf(t, "ours", server)); got != here {
			t.Errorf("%s: %t", server, got)
		}
	}
}
