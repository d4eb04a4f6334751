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

// throughPod reads a path of a server that only its own Pod's network reaches, as `kubectl port-forward` would.
func (o *observing) throughPod(ctx context.Context, pod health.Ref, port, path string) ([]byte, error) {
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, err
	}
	address := client.CoreV1().RESTClient().Get().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource(
		"portforward").URL()
	dialer, err := portforward.NewSPDYOverWebsocketDialer(address, o.Config)
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
