package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Authority returns the certificate of a Cluster's authority, in PEM, from the Secret <name>-ca of its namespace: it is
// made with the Cluster, and moves with it. Nil without an error means there is none. It does not read the key.
func Authority(ctx context.Context, c client.Reader, cluster client.ObjectKey) ([]byte, error) {
	name := secret.Name(cluster.Name, secret.ClusterCA)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(secretKind)
	err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %s/%s: %w", cluster.Namespace, name, err)
	}
	doc, err := as[struct {
		Data struct {
			Certificate []byte `json:"tls.crt"`
		} `json:"data"`
	}](u)
	return doc.Data.Certificate, err
}

// OwnAuthority returns the certificate of the authority by which a cluster's own workloads know it, in PEM. Nil without
// an error means it is not published.
func OwnAuthority(ctx context.Context, c client.Reader) ([]byte, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(configMapKind)
	err := c.Get(ctx, client.ObjectKey{Namespace: AnyNamespace, Name: rootCertificates}, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get ConfigMap %s/%s: %w", AnyNamespace, rootCertificates, err)
	}
	certificate, _, err := unstructured.NestedString(u.Object, "data", "ca.crt")
	return []byte(certificate), err
}
