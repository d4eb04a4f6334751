//go:build integration && capa

package providers

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// eventually waits for a minute until try returns no error.
func (s *certManagerScene) eventually(what string, try func() error) {
	s.t.Helper()
	start := time.Now()
	var last error
	err := wait.PollUntilContextTimeout(s.ctx, 200*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			last = try()
			return last == nil, nil
		})
	if err != nil {
		s.t.Fatalf("%s: %v: %v", what, err, last)
	}
	s.t.Logf("%s: %s", what, time.Since(start).Round(100*time.Millisecond))
}

// get returns an object of one of the kinds that the test looks at.
func (s *certManagerScene) get(apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	return object, s.cluster.Get(s.ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
}

// ready returns an error unless the Certificate is ready.
func (s *certManagerScene) ready(namespace, name string) error {
	certificate, err := s.get("cert-manager.io/v1", "Certificate", namespace, name)
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(certificate.Object, "status", "conditions")
	for _, condition := range conditions {
		if c := condition.(map[string]any); c["type"] == "Ready" && c["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("Certificate %s: %v", name, conditions)
}

// injected returns an error unless all webhooks of the object have the authority; of nil, any.
func (s *certManagerScene) injected(kind, name string, authority []byte) error {
	group := map[string]string{"CustomResourceDefinition": "apiextensions.k8s.io/v1",
		"ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1"}
	object, err := s.get(group[kind], kind, "", name)
	if err != nil {
		return err
	}
	configs := clientConfigs(object)
	if len(configs) == 0 {
		return fmt.Errorf("%s %s has no webhook", kind, name)
	}
	for _, config := range configs {
		bundle, _ := config["caBundle"].(string)
		if bundle == "" || authority != nil && bundle != base64.StdEncoding.EncodeToString(authority) {
			return fmt.Errorf("%s %s: %q", kind, name, bundle)
		}
	}
	return nil
}

// stepsDown ends a program, which must have the lease and give it back.
func (s *certManagerScene) stepsDown(deployment, name string) {
	s.t.Helper()
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: "kube-system", Name: name}
	if err := s.cluster.Get(s.ctx, key, lease); err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		s.t.Errorf("Lease %s is not held (%v)", name, err)
	}
	if err := s.programs[deployment].stop(); err != nil {
		s.t.Errorf("%s: %v", deployment, err)
	}
	if err := s.cluster.Get(s.ctx, key, lease); err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
		s.t.Errorf("Lease %s is still held (%v)", name, err)
	}
}

// probed returns an error unless the controller says that it lives.
func (s *certManagerScene) probed() error {
	response, err := http.Get(s.live)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", s.live, response.Status)
	}
	return firstError(err, response.Body.Close())
}

// firstError returns the first error.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
