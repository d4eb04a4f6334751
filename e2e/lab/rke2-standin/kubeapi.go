package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sigs.k8s.io/yaml"
)

// localAPI is this server's own API server.
const localAPI = "https://127.0.0.1:6443"

// requestTimeout bounds one request to this node's API server or etcd.
const requestTimeout = 10 * time.Second

// errExists says that an object is there already.
var errExists = errors.New("it exists already")

// kubeAPI talks to an API server, with as little as the stand-in needs.
type kubeAPI struct {
	address string
	client  *http.Client
}

// node is the part of a Node that the stand-in reads.
type node struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// administrator makes a client of this server's API, and rke2.yaml with the same credentials: a client certificate of
// RKE2's client-ca.
func administrator(p paths) (kubeAPI, error) {
	signer, err := readAuthority(p, clientCA)
	if err != nil {
		return kubeAPI{}, err
	}
	server, err := readAuthority(p, serverCA)
	if err != nil {
		return kubeAPI{}, err
	}
	certificate, key, err := signer.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return kubeAPI{}, err
	}
	content, err := kubeconfig(localAPI, server.pem, map[string]any{"client-certificate-data": certificate,
		"client-key-data": key})
	if err != nil {
		return kubeAPI{}, err
	}
	if err := writeFile(p.kubeconfig(), content); err != nil {
		return kubeAPI{}, err
	}
	client, err := clientFor(server.pem, certificate, key)
	return kubeAPI{address: localAPI, client: client}, err
}

// kubeconfig returns a kubeconfig for one cluster. Bytes in user become base64, as the format wants.
func kubeconfig(server string, authority []byte, user map[string]any) ([]byte, error) {
	cluster := map[string]any{"server": server, "certificate-authority-data": authority}
	return yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "default",
		"clusters": []any{map[string]any{"name": "default", "cluster": cluster}},
		"users":    []any{map[string]any{"name": "default", "user": user}},
		"contexts": []any{map[string]any{"name": "default", "context": map[string]any{"cluster": "default",
			"user": "default"}}},
	})
}

// clientFor returns an HTTPS client that trusts the authority alone, goes through no proxy and, when a certificate is
// given, shows it.
func clientFor(authority, certificate, key []byte) (*http.Client, error) {
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authority) {
		return nil, errors.New("the certificate authority is no PEM certificate")
	}
	config := &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	if certificate != nil {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("read a client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Timeout: requestTimeout, Transport: &http.Transport{TLSClientConfig: config}}, nil
}

// ready returns nil when the API server is ready.
func (k kubeAPI) ready(ctx context.Context) error {
	return k.do(ctx, http.MethodGet, "/readyz", nil, nil)
}

// create creates an object of a core resource in a namespace; errExists when it is there.
func (k kubeAPI) create(ctx context.Context, namespace, resource string, object any) error {
	return k.do(ctx, http.MethodPost, "/api/v1/namespaces/"+namespace+"/"+resource, object, nil)
}

// nodes lists the nodes that have all labels of the selector.
func (k kubeAPI) nodes(ctx context.Context, selector string) ([]node, error) {
	var list struct {
		Items []node `json:"items"`
	}
	err := k.do(ctx, http.MethodGet, "/api/v1/nodes?labelSelector="+url.QueryEscape(selector), nil, &list)
	return list.Items, err
}

// patchNode sets labels and annotations of a node; nil as a value removes one. Those that are not named stay.
func (k kubeAPI) patchNode(ctx context.Context, name string, labels, annotations map[string]any) error {
	metadata := map[string]any{}
	if labels != nil { // null would remove all of them
		metadata["labels"] = labels
	}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	return k.do(ctx, http.MethodPatch, "/api/v1/nodes/"+name, map[string]any{"metadata": metadata}, nil)
}

// do sends one request. in and out are JSON. Errors carry the API server's message, which names objects only.
func (k kubeAPI) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		content, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(content)
	}
	request, err := http.NewRequestWithContext(ctx, method, k.address+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := k.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	switch {
	case response.StatusCode == http.StatusConflict && method == http.MethodPost:
		return fmt.Errorf("%s: %w", path, errExists)
	case response.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, message(content))
	case err != nil:
		return fmt.Errorf("%s %s: %w", method, path, err)
	case out == nil:
		return nil
	}
	return json.Unmarshal(content, out)
}

// message is the text of an answer that says what went wrong, shortened.
func message(content []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	text := string(bytes.TrimSpace(content))
	if json.Unmarshal(content, &status) == nil && status.Message != "" {
		text = status.Message
	}
	return text[:min(len(text), 300)]
}
