package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/yaml"
)

// tokenLife is how long a node may take from its admission to its registration.
const tokenLife = 15 * time.Minute

// admit makes a token of kubeadm for one node.
func (k kubeAPI) admit(ctx context.Context, p paths) (admission, error) {
	content, err := os.ReadFile(p.adminConf())
	if err != nil {
		return admission{}, fmt.Errorf("read where the API server is: %w", err)
	}
	var admin struct {
		Clusters []struct {
			Cluster struct {
				Server    string `json:"server"`
				Authority []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	if err := yaml.Unmarshal(content, &admin); err != nil || len(admin.Clusters) != 1 {
		return admission{}, errors.New("kubeadm's admin.conf names no cluster") // it holds a key: not quoted
	}
	token, err := newBootstrapToken()
	if err != nil {
		return admission{}, err
	}
	if err := k.create(ctx, "kube-system", "secrets", bootstrapSecret(token, time.Now().Add(tokenLife))); err != nil {
		return admission{}, fmt.Errorf("create a bootstrap token: %w", err)
	}
	cluster := admin.Clusters[0].Cluster
	return admission{APIServer: cluster.Server, Authority: cluster.Authority, Token: token.String()}, nil
}

// bootstrapToken is a token for the registration of a node, ID.SECRET.
type bootstrapToken struct{ id, secret string }

// String is the form in which kubeadm takes it.
func (t bootstrapToken) String() string { return t.id + "." + t.secret }

func newBootstrapToken() (bootstrapToken, error) {
	text, err := randomText(22)
	if err != nil {
		return bootstrapToken{}, err
	}
	return bootstrapToken{id: text[:6], secret: text[6:]}, nil
}

// bootstrapSecret is the object by which a cluster knows a bootstrap token (Kubernetes documentation, "Authenticating
// with Bootstrap Tokens"); the group is the one to which kubeadm gives the right to register.
func bootstrapSecret(token bootstrapToken, expires time.Time) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
		"metadata": map[string]any{"name": "bootstrap-token-" + token.id, "namespace": "kube-system"},
		"stringData": map[string]any{
			"token-id": token.id, "token-secret": token.secret, "expiration": expires.UTC().Format(time.RFC3339),
			"usage-bootstrap-authentication": "true",
			"auth-extra-groups":              "system:bootstrappers:kubeadm:default-node-token",
			"description":                    "for one node that joins through RKE2's registration port",
		},
	}
}

// admitServer collects what a further server needs.
func admitServer(ctx context.Context, p paths) (serverAdmission, error) {
	files, err := readMaterial(p)
	if err != nil {
		return serverAdmission{}, err
	}
	local, err := localEtcd(p)
	if err != nil {
		return serverAdmission{}, err
	}
	members, err := local.members(ctx)
	if err != nil {
		return serverAdmission{}, fmt.Errorf("list the etcd members: %w", err)
	}
	return serverAdmission{Files: files, Members: members}, nil
}

// servingSecret is kube-system/rke2-serving, by which CAPRKE2 knows that a cluster is initialized.
func servingSecret(certificate, key []byte) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]any{"name": "rke2-serving", "namespace": "kube-system"},
		"data":     map[string]any{"tls.crt": certificate, "tls.key": key},
	}
}

// announce makes the cluster know what CAPRKE2 reads: the labels and annotations of this server, and the Secret.
func (k kubeAPI) announce(ctx context.Context, own machine, member string, certificate, key []byte) error {
	labels := map[string]any{}
	for _, role := range []string{"control-plane", "etcd", "master"} {
		labels["node-role.kubernetes.io/"+role] = "true"
	}
	annotations := map[string]any{memberAnnotation: member, addressAnnotation: own.address}
	if err := k.patchNode(ctx, own.name, labels, annotations); err != nil {
		return fmt.Errorf("label node %s: %w", own.name, err)
	}
	err := k.create(ctx, "kube-system", "secrets", servingSecret(certificate, key))
	if err != nil && !errors.Is(err, errExists) {
		return fmt.Errorf("create the Secret rke2-serving: %w", err)
	}
	return nil
}
