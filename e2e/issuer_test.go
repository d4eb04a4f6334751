//go:build e2e

package e2e

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// issuer stands in for a provider of OpenID Connect: it has a discovery document and a key, and no login.
type issuer struct {
	url string
	ca  string // of its certificate, in PEM
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	ca, certificate := signedFor(t, net.ParseIP(gateway(t)))
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	must(t, err)
	i := issuer{url: "https://" + listener.Addr().String(), ca: string(ca), key: key}
	documents := map[string]any{
		"/.well-known/openid-configuration": map[string]any{"issuer": i.url, "jwks_uri": i.url + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"id_token"},
			"subject_types_supported": []string{"public"}},
		"/keys": map[string]any{"keys": []any{map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one",
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes())}}},
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		document, known := documents[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document)
	})
	serveOn(t, tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}}), handler)
	return i
}

// values are those of a cluster that trusts the issuer.
func (i issuer) values() map[string]any {
	return map[string]any{"issuer_url": i.url, "client_id": "e2e", "ca": i.ca, "username_prefix": "oidc:",
		"groups_claim": "groups", "groups_prefix": "oidc:"}
}

// token is what a user gets who has logged in.
func (i issuer) token(t *testing.T, user, group string) string {
	t.Helper()
	encode := func(part any) string {
		text, err := json.Marshal(part)
		must(t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	content := encode(map[string]any{"alg": "RS256", "kid": "one", "typ": "JWT"}) + "." + encode(map[string]any{
		"iss": i.url, "aud": "e2e", "sub": user, "groups": []string{group}, "iat": time.Now().Unix(),
		"exp": time.Now().Add(time.Hour).Unix()})
	sum := sha256.Sum256([]byte(content))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	must(t, err)
	return content + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// logsIn sees that the cluster of a kubeconfig knows a user of the issuer, and their group.
func (i issuer) logsIn(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	must(t, err)
	config.CertData, config.KeyData, config.BearerToken = nil, nil, i.token(t, "alice", "platform")
	c, err := kubernetes.NewForConfig(config)
	must(t, err)
	review, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{},
		metav1.CreateOptions{})
	if err != nil {
		t.Errorf("a user of the issuer: %v", err)
		return
	}
	if user := review.Status.UserInfo; user.Username != "oidc:alice" || !slices.Contains(user.Groups, "oidc:platform") {
		t.Errorf("the user is %s of %v", user.Username, user.Groups)
	}
}
