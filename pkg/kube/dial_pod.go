package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
)

// mostRefusal is how much of what a kubelet says about a failed connection is read, in bytes.
const mostRefusal = 4 << 10

// DialPod connects to a port that a Pod may serve to its own network only, as `kubectl port-forward` does. It can
// outlast ctx by the 30 seconds that client-go waits for a stream. The end of ctx ends the connection as well.
func (c *Cluster) DialPod(ctx context.Context, pod types.NamespacedName, port string) (net.Conn, error) {
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return next.RoundTrip(r.WithContext(ctx)) })
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	address := client.CoreV1().RESTClient().Get().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource(
		"portforward").URL()
	dialer, err := portforward.NewSPDYOverWebsocketDialer(address, config)
	if err != nil {
		return nil, err
	}
	connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, fmt.Errorf("connect to port %s of Pod %s: %w", port, pod, err)
	}
	p := &podConn{connection: connection}
	p.stop = context.AfterFunc(ctx, func() { _ = connection.Close() })
	err = p.open(func(kind string) (io.ReadWriteCloser, error) {
		headers := http.Header{}
		headers.Set(corev1.PortHeader, port)
		headers.Set(corev1.PortForwardRequestIDHeader, "0")
		headers.Set(corev1.StreamType, kind)
		return connection.CreateStream(headers)
	})
	if err != nil {
		_ = p.Close()
		return nil, fmt.Errorf("connect to port %s of Pod %s: %w", port, pod, err)
	}
	return p, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// podConn is a connection to a port of a Pod.
type podConn struct {
	connection     io.Closer
	data, failures io.ReadWriteCloser
	stop           func() bool
	closing        sync.Once
}

func (p *podConn) open(stream func(kind string) (io.ReadWriteCloser, error)) (err error) {
	if p.failures, err = stream(corev1.StreamTypeError); err != nil {
		return err
	}
	_ = p.failures.Close() // nothing is written to it
	p.data, err = stream(corev1.StreamTypeData)
	return err
}

// Read reads what the Pod sends. At its end it returns what the kubelet says, if the connection failed.
func (p *podConn) Read(b []byte) (int, error) {
	n, err := p.data.Read(b)
	if errors.Is(err, io.EOF) {
		if said, _ := io.ReadAll(io.LimitReader(p.failures, mostRefusal)); len(said) > 0 {
			err = fmt.Errorf("%w: %s", io.ErrUnexpectedEOF, strings.TrimSpace(string(said)))
		}
	}
	return n, err
}

// Write sends to the Pod.
func (p *podConn) Write(b []byte) (int, error) { return p.data.Write(b) }

// Close ends the connection.
func (p *podConn) Close() error {
	var err error
	p.closing.Do(func() {
		p.stop()
		err = p.connection.Close()
	})
	return err
}

// LocalAddr has no meaning for the far end.
func (p *podConn) LocalAddr() net.Addr { return podAddr{} }

// RemoteAddr has no meaning here: the API server knows it.
func (p *podConn) RemoteAddr() net.Addr { return podAddr{} }

// SetDeadline has no effect: the context of DialPod bounds the connection.
func (p *podConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline has no effect, see SetDeadline.
func (p *podConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline has no effect, see SetDeadline.
func (p *podConn) SetWriteDeadline(time.Time) error { return nil }

type podAddr struct{}

// Network is the name of the network, for people.
func (podAddr) Network() string { return "pod" }

// String is the address, for people.
func (podAddr) String() string { return "pod" }
