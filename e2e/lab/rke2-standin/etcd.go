package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// etcd is this server's etcd member, reached through etcd's JSON gateway (its documentation:
// dev-guide/api_grpc_gateway).
type etcd struct{ kubeAPI }

// member is a member of the etcd cluster.
type member struct {
	ID       string   `json:"ID"`
	Name     string   `json:"name"`
	PeerURLs []string `json:"peerURLs"`
}

// localEtcd returns a client with the certificate that kubeadm makes for health checks.
func localEtcd(p paths) (etcd, error) {
	var content [3][]byte
	for i, name := range []string{"ca.crt", "healthcheck-client.crt", "healthcheck-client.key"} {
		var err error
		if content[i], err = os.ReadFile(filepath.Join(p.pki(), "etcd", name)); err != nil {
			return etcd{}, fmt.Errorf("read the certificates of etcd: %w", err)
		}
	}
	client, err := clientFor(content[0], content[1], content[2])
	return etcd{kubeAPI{address: "https://127.0.0.1:2379", client: client}}, err
}

// members lists the members as a majority of them knows them.
func (e etcd) members(ctx context.Context) ([]member, error) {
	var list struct {
		Members []member `json:"members"`
	}
	err := e.do(ctx, http.MethodPost, "/v3/cluster/member/list", map[string]any{"linearizable": true}, &list)
	if err == nil && len(list.Members) == 0 {
		err = errors.New("etcd lists no members")
	}
	return list.Members, err
}

// remove removes a member.
func (e etcd) remove(ctx context.Context, id string) error {
	return e.do(ctx, http.MethodPost, "/v3/cluster/member/remove", map[string]any{"ID": id}, nil)
}

// memberName returns the name of this server's member: NODE-SUFFIX as in RKE2, where CAPRKE2 cuts off the suffix to
// find the node. It is kept where RKE2 keeps it.
func memberName(p paths, node string) (string, error) {
	content, err := os.ReadFile(p.memberName())
	if name := strings.TrimSpace(string(content)); err == nil && strings.HasPrefix(name, node+"-") {
		return name, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the name of the etcd member: %w", err)
	}
	suffix, err := randomText(8)
	if err != nil {
		return "", err
	}
	name := node + "-" + suffix
	return name, writeFile(p.memberName(), []byte(name))
}

// peerURL is where other members reach the member of a server.
func peerURL(address string) string { return "https://" + hostPort(address, "2380") }

// initialCluster is what a new member must know: itself and all members that are there already. One that has not
// started yet has no name; any other word does.
func initialCluster(name, address string, others []member) string {
	entries := []string{name + "=" + peerURL(address)}
	for _, other := range others {
		if len(other.PeerURLs) > 0 && other.PeerURLs[0] != peerURL(address) {
			entries = append(entries, cmp.Or(other.Name, other.ID)+"="+other.PeerURLs[0])
		}
	}
	return strings.Join(entries, ",")
}
