// Package etcd is an adapter to the etcd of a cluster: its members, and snapshots.
package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"sigs.k8s.io/cluster-api/util/certs"
)

// Port is where etcd serves its clients.
const Port = "2379"

const (
	// localhost is a name that every member's certificate has.
	localhost = "localhost"
	endpoint  = "https://" + localhost + ":" + Port
)

// Authority is etcd's own certificate authority, in PEM.
type Authority struct{ Certificate, Key []byte }

// credentials returns a certificate of a client, made for this connection, and the authority to verify the server with.
func (a Authority) credentials() (*tls.Config, error) {
	authority, err := certs.DecodeCertPEM(a.Certificate)
	if err == nil && authority == nil {
		err = errors.New("it is not PEM")
	}
	if err != nil {
		return nil, fmt.Errorf("read the certificate of etcd's authority: %w", err)
	}
	signer, err := certs.DecodePrivateKeyPEM(a.Key)
	if err != nil || signer == nil {
		return nil, errors.New("read the key of etcd's authority: it is not one in PEM")
	}
	key, err := certs.NewPrivateKey()
	if err != nil {
		return nil, err
	}
	own, err := (&certs.Config{CommonName: "cluster-init",
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}).NewSignedCert(key, authority, signer)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for etcd: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	return &tls.Config{RootCAs: pool, ServerName: localhost, MinVersion: tls.VersionTLS12,
		Certificates: []tls.Certificate{{Certificate: [][]byte{own.Raw}, PrivateKey: key}}}, nil
}

// Client is a connection to one member.
type Client struct{ client *clientv3.Client }

// Connect makes a Client whose connections dial makes. It verifies the member's certificate. ctx bounds the Client.
func Connect(ctx context.Context, a Authority, dial func(context.Context) (net.Conn, error)) (*Client, error) {
	credentials, err := a.credentials()
	if err != nil {
		return nil, err
	}
	if err := verify(ctx, credentials, dial); err != nil {
		return nil, fmt.Errorf("connect to etcd: %w", err)
	}
	client, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: []string{endpoint},
		TLS: credentials, Logger: zap.NewNop(), DialKeepAliveTime: 10 * time.Second,
		DialKeepAliveTimeout: 10 * time.Second,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(
			// ctx, and not that of gRPC, which ends once the connection is made.
			func(context.Context, string) (net.Conn, error) { return dial(ctx) })}})
	if err != nil {
		return nil, fmt.Errorf("make a client for etcd: %w", err)
	}
	return &Client{client}, nil
}

// verify makes one connection: the client would repeat what fails, and report only that no time is left.
func verify(ctx context.Context, credentials *tls.Config, dial func(context.Context) (net.Conn, error)) error {
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	return tls.Client(connection, credentials).HandshakeContext(ctx)
}

// Close ends the connections.
func (c *Client) Close() error { return c.client.Close() }

// Member is a member of an etcd cluster.
type Member struct {
	ID   uint64
	Name string // that of its Node
	// PeerURLs are its addresses for other members.
	PeerURLs []string
	// Learner reports whether it only receives data, and does not vote yet.
	Learner bool
}

// Members returns the members, as a majority of them knows them.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	answer, err := c.client.MemberList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the members of etcd: %w", err)
	}
	var all []Member
	for _, m := range answer.Members {
		all = append(all, Member{ID: m.ID, Name: m.Name, PeerURLs: m.PeerURLs, Learner: m.IsLearner})
	}
	return all, nil
}
