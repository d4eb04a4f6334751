//go:build integration

package evidence

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// What each test secret is known by: the run itself, a Secret of the cluster only, nothing.
const (
	ofTheRun     = `run s3cr"et+/ü`
	ofTheCluster = "cluster-s3cret-0123456789"
	ofNobody     = "nobody-knows-0123456789"
	keyLine      = "MHcCAQEEIEa0123456789abcdefghijklmnopqrstuvwxyzABCD"
)

// TestNoSecretOfARealClusterIsLeft puts secrets into the oddest places that a real API server stores.
func TestNoSecretOfARealClusterIsLeft(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	crds, err := apiserver.ClusterAPIDefinitions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	server, err := apiserver.Start(crds...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	cluster, err := kube.Connect("management", server.Kubeconfig(), clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range oddPlaces(t) {
		if err := cluster.Create(ctx, o); err != nil {
			t.Fatalf("%s %s: %v", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
		}
	}
	dir := filepath.Join(t.TempDir(), "artifacts")
	c := Collector{Dir: dir, Redactor: redact.New(ofTheRun), Clusters: clusters(cluster)}
	if err := c.Collect(ctx, failed()); err != nil {
		t.Fatal(err)
	}
	found := files(t, dir)
	for name, content := range found {
		for _, secret := range []string{ofTheRun, ofTheCluster, ofNobody, keyLine} {
			for form, text := range writtenForms(t, secret) {
				if strings.Contains(content, text) {
					t.Errorf("%s holds %q as %s", name, secret, form)
				}
			}
		}
		for _, left := range []string{"managedFields", "last-applied-configuration"} {
			if strings.Contains(content, left) {
				t.Errorf("%s holds %s", name, left)
			}
		}
		if strings.HasSuffix(name, ".yaml") {
			for document := range strings.SplitSeq("\n"+content, "\n---\n") {
				if err := yaml.Unmarshal([]byte(document), &map[string]any{}); err != nil {
					t.Errorf("%s is no YAML: %v", name, err)
				}
			}
		}
	}
	for name, wants := range map[string][]string{
		"management/secrets.yaml": {"name: odd-secret", "- password",
			"type: Opaque"},
		"management/objects/namespaces.yaml": {"name: odd", "seen: '*** in a note'"},
		"management/objects/events.yaml":     {"pulling with ***"},
		"management/objects/pods.yaml":       {"name: SOME_TOKEN", "name: PLAIN"},
		"management/objects/configmaps.yaml": {"odd-config", "bytes are left out"},
		"management/objects/deployments.apps.yaml": {"name: odd-deployment",
			"image: registry.example.org/app"},
		"management/objects/kubeadmconfigs.bootstrap.cluster.x-k8s.io.yaml": {"name: odd-config",
			"path: /etc/kubernetes/pki/ca.key"},
		"management/objects/devclusters.infrastructure.cluster.x-k8s.io.yaml": {"name: odd-infrastructure"},
		"management/objects/clusters.cluster.x-k8s.io.yaml":                   {"name: odd-cluster"},
	} {
		for _, want := range wants {
			if !strings.Contains(found[name], want) {
				t.Errorf("%s does not say %q:\n%s", name, want, found[name])
			}
		}
	}
	if text := found["summary.txt"]; strings.Contains(text, "could not be collected") &&
		!strings.Contains(text, "an event of the run") {
		t.Errorf("something could not be collected:\n%s", text)
	}
}

func writtenForms(t *testing.T, secret string) map[string]string {
	t.Helper()
	inJSON, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"it is": secret, "base64": base64.StdEncoding.EncodeToString([]byte(secret)),
		"JSON": strings.Trim(string(inJSON), `"`), "a URL": url.QueryEscape(secret),
	}
}

// oddPlaces are objects with secrets in unexpected places.
func oddPlaces(t *testing.T) []client.Object {
	t.Helper()
	forms := func(secret string) string { return fmt.Sprint(writtenForms(t, secret)) }
	key := "-----BEGIN EC PRIVATE KEY-----\n" + keyLine + "\n-----END EC PRIVATE KEY-----\n"
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "odd", Name: name, Annotations: map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": `{"data":"` + ofNobody + `"}`, "seen": ofTheCluster +
				" in a note", "run": forms(ofTheRun)}}
	}
	namespace := &corev1.Namespace{ObjectMeta: meta("odd")}
	namespace.Namespace = ""
	return []client.Object{
		namespace,
		&corev1.Secret{ObjectMeta: meta("odd-secret"), Data: map[string][]byte{"password": []byte(ofTheCluster),
			"tls.key": []byte(key),
			"value":   []byte("#cloud-config\nwrite_files:\n- content: |\n    token: " + ofTheCluster + "\n")}},
		&corev1.ConfigMap{ObjectMeta: meta("odd-config"),
			Data: map[string]string{"raw": forms(ofTheRun) + forms(ofTheCluster), "key": key, "dsn": "password=" +
				ofNobody}},
		&corev1.ConfigMap{ObjectMeta: meta("large"), Data: map[string]string{"x": strings.Repeat(ofNobody, 2000)}},
		&corev1.Event{ObjectMeta: meta("odd-event"), Message: "pulling with " + ofTheCluster + " " + forms(ofTheRun),
			Reason: "Odd", Type: "Warning",
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "odd", Name: "odd-pod"},
			Source:         corev1.EventSource{Component: "test"}},
		object(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: odd, name: default}}`),
		object(
			t,
			`{apiVersion: v1, kind: Pod, metadata: {namespace: odd, name: odd-pod}, spec: {containers: [{name: c, image: registry.example.org/app, args: ["--proxy=http://user:`+ofNobody+`@proxy", "`+ofTheCluster+`"],
  env: [{name: SOME_TOKEN, value: `+ofNobody+`}, {name: PLAIN, value: x-`+ofTheCluster+`-y}]}]}}`),
		object(
			t,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: odd, name: odd-deployment}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
  spec: {containers: [{name: c, image: registry.example.org/app, env: [{name: AWS_SECRET_ACCESS_KEY, value: `+ofNobody+`}]}]}}}}`),
		object(
			t,
			`{apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfig, metadata: {namespace: odd, name: odd-config}, spec: {
  files: [{path: /etc/kubernetes/pki/ca.key, content: "`+strings.ReplaceAll(key, "\n", `\n`)+`"}], joinConfiguration: {discovery: {bootstrapToken: {token: abcdef.0123456789abcdef, apiServerEndpoint: "x:6443", unsafeSkipCAVerification: true}}},
  users: [{name: admin, passwd: `+ofNobody+`}]}}`),
		object(
			t,
			`{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevCluster, metadata: {namespace: odd, name: odd-infrastructure, annotations: {a: `+ofTheCluster+`}}, spec: {backend: {docker: {}}}}`),
		object(
			t,
			`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {namespace: odd, name: odd-cluster, annotations: {a: "`+base64.StdEncoding.EncodeToString([]byte("x"+ofTheCluster))+`"}},
  spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: odd-infrastructure}}}`),
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return u
}
