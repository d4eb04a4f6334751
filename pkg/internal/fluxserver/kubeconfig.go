package fluxserver

import (
	"encoding/pem"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigOf is one of a cluster with this authority, which needs not exist; empty: it names none.
func KubeconfigOf(t *testing.T, authority, server string) []byte {
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
