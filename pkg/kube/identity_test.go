package kube

import (
	"encoding/pem"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigOf is one of a cluster with this authority.
func kubeconfigOf(t *testing.T, authority, server string) []byte {
	t.Helper()
	config := api.NewConfig()
	config.Clusters["c"] = &api.Cluster{Server: server}
	if authority != "" {
		config.Clusters["c"].CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(authority)})
	}
	config.Contexts["x"] = &api.Context{Cluster: "c"}
	config.CurrentContext = "x"
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAClusterIsKnownByItsAuthority(t *testing.T) {
	ours := kubeconfigOf(t, "ours", "https://10.0.0.1:6443")
	cases := map[string]struct {
		other []byte
		same  bool
	}{
		"the same at another address": {kubeconfigOf(t, "ours", "https://127.0.0.1:32768"), true},
		"another at the same address": {kubeconfigOf(t, "theirs", "https://10.0.0.1:6443"), false},
		"one that trusts nobody":      {kubeconfigOf(t, "", "https://10.0.0.1:6443"), false},
		"no kubeconfig":               {[]byte("<html>please log in</html>"), false},
		"half of one":                 {ours[:len(ours)/2], false},
		"nothing":                     {nil, false},
	}
	for name, tc := range cases {
		if got := SameCluster(ours, tc.other); got != tc.same {
			t.Errorf("%s: the same cluster %t, want %t", name, got, tc.same)
		}
		if got := SameCluster(tc.other, ours); got != tc.same {
			t.Errorf("%s, the other way round: %t", name, got)
		}
	}
	if none := kubeconfigOf(t, "", "https://x"); SameCluster(none, none) {
		t.Error("two without an authority are called the same cluster")
	}
}
