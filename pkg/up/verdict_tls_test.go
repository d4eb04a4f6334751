package up

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A management cluster whose certificate has expired is running: the remedy is another certificate. The error is that
// of a real handshake.
func TestAnExpiredCertificateIsNoClusterThatIsGone(t *testing.T) {
	for name, tc := range map[string]struct {
		ends    time.Time
		answers int
		advise  string
	}{
		"its certificate has expired": {time.Now().Add(-time.Hour), http.StatusOK,
			"Renew the certificate of its API server"},
		"that of the kubeconfig's user has, only": {time.Now().Add(time.Hour), http.StatusUnauthorized,
			"Give a kubeconfig of it whose credentials are valid"},
	} {
		server, authority := serve(t, tc.ends, tc.answers)
		c, err := kube.Connect(clusters.ManagementName,
			kubeconfig.Of(t, "", server, func(c *api.Cluster, _ *api.AuthInfo) {
				c.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority})
			}), runtime.NewScheme())
		if err != nil {
			t.Fatal(err)
		}
		o := seen(clusters.BootstrapAbsent, clusters.ManagementSilent)
		// Otherwise no pivot was made, and the cluster would count as gone.
		o.LocalEvidence.Building, o.Management.Err = true, c.Reachable(t.Context())
		v := judge(o, thisRun)
		if short(v) != "cluster/unreachable?" ||
			!strings.Contains(v.refusal.Error(), "something answers at its address") ||
			!strings.Contains(fault.HintOf(v.refusal), tc.advise) {
			t.Errorf("%s: %s: %v\nhint: %s", name, short(v), v.refusal, fault.HintOf(v.refusal))
		}
	}
}

// serve answers every request with a status, with a certificate that ends then. It returns the address and that
// certificate.
func serve(t *testing.T, ends time.Time, status int) (address string, certificate []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: ends.Add(-24 * time.Hour), NotAfter: ends,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	certificate, err = x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports the handshake that fails
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, certificate
}
