package readiness

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// etcdPort is where etcd serves its health, to its own node only.
const etcdPort = "2381"

// etcdQuestions check the health of the etcd members that run as Pods.
func (o *observing) etcdQuestions(v *view) []question {
	var questions []question
	for _, pod := range v.list("", "Pod") {
		if pod.GetNamespace() == systemNamespace && pod.GetName() == "etcd-"+text(pod, "spec", "nodeName") &&
			text(pod, "status", "phase") == "Running" {
			questions = append(questions, func(ctx context.Context) { o.etcdHealth(ctx, pod) })
		}
	}
	return questions
}

func (o *observing) etcdHealth(ctx context.Context, pod *unstructured.Unstructured) {
	r := health.RefOf(pod)
	body, err := o.throughPod(ctx, r, etcdPort, "/health")
	if err != nil {
		o.notChecked("the health of etcd by %s in the %s cluster: %v", r, o.Name, err)
		return
	}
	var said struct {
		Health string `json:"health"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		o.notChecked("the health of etcd by %s in the %s cluster: %v", r, o.Name, err)
		return
	}
	o.probed(Probe{Kind: EtcdHealth, Object: r, OK: said.Health == "true", Message: said.Reason})
}

// throughPod reads a path of a server that only its own Pod's network reaches, as `kubectl port-forward` would. It
// returns when ctx ends: the calls of client-go take no context.
func (o *observing) throughPod(ctx context.Context, pod health.Ref, port, path string) ([]byte, error) {
	type result struct {
		body []byte
		err  error
	}
	answered := make(chan result, 1)
	go func() {
		body, err := o.forward(ctx, pod, port, path)
		answered <- result{body, err}
	}()
	select {
	case r := <-answered:
		return r.body, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// forward can outlast ctx by the 30 seconds that client-go waits for the reply to a new stream.
func (o *observing) forward(ctx context.Context, pod health.Ref, port, path string) ([]byte, error) {
	config := rest.CopyConfig(o.Config)
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
		return nil, err
	}
	defer connection.Close()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	headers := http.Header{}
	headers.Set(corev1.PortHeader, port)
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	_ = failures.Close() // nothing is written to it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(data, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(data), nil)
	if err != nil {
		said, _ := io.ReadAll(io.LimitReader(failures, mostAnswer))
		return nil, fmt.Errorf("%w %s", err, strings.TrimSpace(string(said)))
	}
	defer answer.Body.Close()
	return io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
