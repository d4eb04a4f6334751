package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxAnswer bounds what a joining node reads of a server's answer.
const maxAnswer = 1 << 20

// cluster is the registration port of a cluster, as a joining node sees it.
type cluster struct {
	address string
	token   joinToken
	client  *http.Client
}

// meet asks the server for its certificate authority. A token of the long form says which it must be; one of the short
// form trusts the first answer, as RKE2 does.
func meet(ctx context.Context, server string, token joinToken) (cluster, error) {
	unverified := &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	}}
	met := cluster{address: strings.TrimSuffix(server, "/"), client: unverified}
	authority, err := met.ask(ctx, http.MethodGet, pathAuthority)
	if err != nil {
		return cluster{}, fmt.Errorf("ask the server for its certificate authority: %w", err)
	}
	hash := sha256.Sum256(authority)
	if token.caHash != "" && token.caHash != hex.EncodeToString(hash[:]) {
		return cluster{}, errors.New("the server's certificate authority is not the one that the token names")
	}
	met.token = token
	met.client, err = clientFor(authority, nil, nil)
	return met, err
}

// node asks for the admission of a node.
func (c cluster) node(ctx context.Context) (admission, error) {
	return post[admission](ctx, c, pathNode)
}

// server asks for what a further server needs.
func (c cluster) server(ctx context.Context) (serverAdmission, error) {
	return post[serverAdmission](ctx, c, pathServer)
}

func post[T any](ctx context.Context, c cluster, path string) (answer T, err error) {
	content, err := c.ask(ctx, http.MethodPost, path)
	if err != nil {
		return answer, fmt.Errorf("ask the server for admission: %w", err)
	}
	if json.Unmarshal(content, &answer) != nil {
		return answer, errors.New("the server's answer is not what the stand-in answers") // it holds keys: not quoted
	}
	return answer, nil
}

// ask sends one request; the token goes only to a server that the client has verified.
func (c cluster) ask(ctx context.Context, method, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.address+path, nil)
	if err != nil {
		return nil, err
	}
	if c.token.password != "" {
		request.SetBasicAuth("node", c.token.password)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, message(content))
	}
	return content, nil
}

// writeDiscovery writes the file by which kubeadm finds and trusts the API server.
func writeDiscovery(p paths, admitted admission) error {
	content, err := kubeconfig(admitted.APIServer, admitted.Authority, map[string]any{})
	if err != nil {
		return err
	}
	return writeFile(p.own("discovery.conf"), content)
}
