//go:build integration && capa

package providers

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// providerObjects are what a provider of Cluster API has: webhooks behind a certificate that cert-manager makes.
// Besides, an authority and a certificate that it signs.
const providerObjects = `
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: selfsigned-issuer, namespace: default}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving-cert, namespace: default}
spec:
  dnsNames: [webhook-service.default.svc, webhook-service.default.svc.cluster.local]
  issuerRef: {kind: Issuer, name: selfsigned-issuer}
  secretName: webhook-service-cert
  subject: {organizations: [k8s-sig-cluster-lifecycle]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
  annotations: {cert-manager.io/inject-ca-from: default/serving-cert}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: webhook-service, namespace: default, path: /convert}}}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: provider
  annotations: {cert-manager.io/inject-ca-from: default/serving-cert}
webhooks:
  - name: validation.thing.example.com
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {service: {name: webhook-service, namespace: default, path: /validate}}
    rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: authority, namespace: cert-manager}
spec:
  isCA: true
  commonName: authority
  issuerRef: {kind: ClusterIssuer, name: selfsigned}
  secretName: authority
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: selfsigned}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: authority}
spec: {ca: {secretName: authority}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: signed, namespace: default}
spec:
  dnsNames: [signed.example.com]
  issuerRef: {kind: ClusterIssuer, name: authority}
  secretName: signed
`

// refused is valid to the definition, but not to cert-manager's webhook.
const refused = `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: refused, namespace: default}
spec: {dnsNames: [a.example.com], issuerRef: {name: selfsigned-issuer}, secretName: refused, duration: 2h, renewBefore: 3h}
`

// TestCertManager runs the lab's cert-manager in front of a real API server, with the objects and the rights of its
// manifest.
func TestCertManager(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s := startCertManager(ctx, t)
	s.eventually("its own authority is injected",
		func() error { return s.injected("ValidatingWebhookConfiguration", "cert-manager-webhook", nil) })
	for _, object := range objects(t, []byte(providerObjects)) {
		s.eventually("apply "+object.GetName(), func() error { return s.cluster.ApplyAll(ctx, object.DeepCopy()) })
	}
	s.eventually("the certificates are ready", func() error {
		return firstError(s.ready("default", "serving-cert"), s.ready("cert-manager", "authority"),
			s.ready("default", "signed"))
	})
	secret := &corev1.Secret{}
	if err := s.cluster.Get(ctx, client.ObjectKey{Namespace: "default", Name: "webhook-service-cert"},
		secret); err != nil {
		t.Fatal(err)
	}
	s.eventually("the authority is injected", func() error {
		return firstError(s.injected("ValidatingWebhookConfiguration", "provider", secret.Data["ca.crt"]),
			s.injected("CustomResourceDefinition", "things.example.com", secret.Data["ca.crt"]))
	})
	err := s.cluster.ApplyAll(ctx, objects(t, []byte(refused))[0])
	if err == nil || !strings.Contains(err.Error(), `"webhook.cert-manager.io" denied`) {
		t.Errorf("a certificate that is renewed before it is valid: %v", err)
	}
	requests := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "cert-manager.io/v1",
		"kind": "CertificateRequestList"}}
	if err := s.cluster.List(ctx, requests); err != nil || len(requests.Items) != 3 {
		t.Fatalf("%d requests (%v)", len(requests.Items), err)
	}
	for _, request := range requests.Items {
		if user, _, _ := unstructured.NestedString(request.Object, "spec",
			"username"); user != "system:serviceaccount:cert-manager:cert-manager" {
			t.Errorf("CertificateRequest %s comes from %q: the webhook did not fill it in", request.GetName(), user)
		}
	}
	if err := s.probed(); err != nil {
		t.Error(err)
	}
	s.stepsDown("cert-manager", "cert-manager-controller")
	s.stepsDown("cert-manager-cainjector", "cert-manager-cainjector-leader-election")
}
