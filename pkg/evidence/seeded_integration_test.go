//go:build integration

package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// kinds are fifty kinds of secrets; each value is made of its kind, so that none is another's part.
func kinds() map[string]string {
	forms := map[string]string{
		"private key of RSA":     "-----BEGIN RSA PRIVATE KEY-----\nMIIE%s\n-----END RSA PRIVATE KEY-----\n",
		"private key of EC":      "-----BEGIN EC PRIVATE KEY-----\nMHcC%s\n-----END EC PRIVATE KEY-----\n",
		"private key of OpenSSH": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl%s\n-----END OPENSSH PRIVATE KEY-----\n",
		"private key of PGP":     "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOY%s\n-----END PGP PRIVATE KEY BLOCK-----\n",
		"token of GitHub":        "ghp_%s", "token of GitLab": "glpat-%s", "fine token of GitHub": "github_pat_%s",
		"key of AWS": "AKIA%s", "token of Slack": "xoxb-%s", "key of Stripe": "sk_live_%s",
		"token of npm": "npm_%s", "token of PyPI": "pypi-%s", "token of Vault": "hvs.%s", "key of SendGrid": "SG.%s",
		"key of Mailgun": "key-%s", "key of age": "AGE-SECRET-KEY-1%s",
		"JSON web token": "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJr%s.c2ln", "bootstrap token": "abcdef.%s",
		"token of RKE2": "K10%s::server:x", "bearer": "Bearer %s", "basic": "Basic %s",
		"URL of a database": "postgres://app:%s@db:5432/x", "URL of a queue": "amqp://app:%s@mq:5672",
		"URL of a cache": "redis://:%s@cache:6379", "proxy": "http://me:%s@proxy:3128",
		"docker config":             `{"auths":{"r":{"auth":"%s"}}}`,
		"service account of Google": `{"type":"service_account","private_key":"%s"}`,
		"clouds.yaml":               "clouds:\n  x:\n    auth: {password: %s}\n",
		"kubeconfig":                "users:\n- user: {client-key-data: %s}\n", "htpasswd": "admin:$apr1$%s",
		"passphrase with letters of others": "grüße-日本-%s", "passphrase with spaces": "correct horse %s staple",
		"password with quotes": `a"b'c\%s`, "password with signs": "p@ss/w+rd=?&%%%s", "cookie": "session=%s; Path=/",
		"pre-shared key of WireGuard": "%s0123456789abcdefghijklmnopqr=",
	}
	for _, plain := range []string{"password", "application credential", "secret key of AWS", "client secret of OIDC",
		"refresh token", "password of IPMI", "password of VRRP", "key of BGP", "seed of TOTP", "password of LDAP",
		"password of SMTP", "key of Datadog", "token of Terraform", "token of Consul"} {
		forms[plain] = "%s"
	}
	all := map[string]string{}
	for kind, form := range forms {
		all[kind] = fmt.Sprintf(form, "Z"+strings.NewReplacer(" ", "", ".", "").Replace(kind)+"9x7q")
	}
	return all
}

// written is a secret in five encodings, as it could stand in any object.
func written(t *testing.T, secret string) map[string]string {
	t.Helper()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err := w.Write([]byte("before " + secret + " after"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	inJSON, jsonErr := json.Marshal(map[string]string{"x": secret})
	twice, twiceErr := json.Marshal(string(inJSON))
	if err != nil || jsonErr != nil || twiceErr != nil {
		t.Fatal(err, jsonErr, twiceErr)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("user:" + secret))
	return map[string]string{
		"base64":           encoded,
		"gzip":             base64.StdEncoding.EncodeToString(compressed.Bytes()),
		"JSON in a string": string(twice),
		"URL":              "https://x/?a=" + url.QueryEscape(secret) + "&b=" + url.PathEscape(secret),
		"lines":            encoded[:len(encoded)/2] + "\n    " + encoded[len(encoded)/2:] + "\n",
	}
}

// Fifty kinds of secrets, each in five encodings, in objects of a real API server: none is in what is collected, packed
// and unpacked again.
func TestNoneOfFiftyKindsIsLeft(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	cluster, err := kube.Connect("management", server.Kubeconfig(), clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	secrets := kinds()
	if len(secrets) != 50 {
		t.Fatalf("%d kinds", len(secrets))
	}
	n := 0
	for kind, secret := range secrets {
		n++
		name := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("seeded-%d", n)}
		seeded := &corev1.ConfigMap{ObjectMeta: name, Data: map[string]string{"kind": kind}}
		for form, text := range written(t, secret) {
			seeded.Data[strings.ReplaceAll(form, " ", "-")] = text
		}
		if err := cluster.Create(ctx, &corev1.Secret{ObjectMeta: name,
			StringData: map[string]string{"value": secret}}); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Create(ctx, seeded); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "collected")
	if err := (Collector{Dir: dir, Redactor: redact.New(), Clusters: clusters(cluster)}).Collect(
		ctx, Run{Command: "cluster-init collect demo"}); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := Pack(dir, "demo", &packed); err != nil {
		t.Fatal(err)
	}
	content, err := Unpack(&packed, "configmaps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(content, []byte("seeded-50")) {
		t.Fatal("the objects are not there at all")
	}
	for kind, secret := range secrets {
		for form, text := range written(t, secret) {
			for where, all := range map[string]string{"as it is": string(content), "with its lines joined": joined(
				string(content))} {
				if strings.Contains(all, strings.TrimSpace(joined(text))) || strings.Contains(all, secret) {
					t.Errorf("%s as %s is left, %s", kind, form, where)
				}
			}
		}
	}
	if left := regexp.MustCompile(`H4sI[A-Za-z0-9+/]{8,}`).FindString(string(content)); left != "" {
		t.Errorf("something compressed is left: %s", left)
	}
}

var folded = regexp.MustCompile(`\n\s*`)

// joined is a text without its line breaks and what indents after them.
func joined(text string) string { return folded.ReplaceAllString(text, "") }
