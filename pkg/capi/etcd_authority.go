package capi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EtcdAuthority returns the certificate and the key of the authority of a Cluster's etcd, in PEM, from the Secret
// <name>-etcd of its namespace: it is made with the Cluster, and moves with it. A missing Secret is an error.
func EtcdAuthority(ctx context.Context, c client.Reader, cluster client.ObjectKey) (certificate, key []byte,
	err error) {
	name := secret.Name(cluster.Name, secret.EtcdCA)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(secretKind)
	if err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, u); err != nil {
		return nil, nil, fmt.Errorf("get Secret %s/%s: %w", cluster.Namespace, name, err)
	}
	doc, err := as[struct {
		Data struct {
			Certificate []byte `json:"tls.crt"`
			Key         []byte `json:"tls.key"`
		} `json:"data"`
	}](u)
	if err == nil && (len(doc.Data.Certificate) == 0 || len(doc.Data.Key) == 0) {
		err = fmt.Errorf("the Secret %s/%s has no certificate with its key", cluster.Namespace, name)
	}
	return doc.Data.Certificate, doc.Data.Key, err
}
