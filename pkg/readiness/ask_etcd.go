package readiness

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

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
	connection, err := o.DialPod(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, port)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if _, err := fmt.Fprintf(connection, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
}
