//go:build bench

package bench

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// use is what the management cluster has used since it began.
type use struct {
	pods     map[string]podUse // by the name of their Deployment
	requests int64             // that its API server has answered
}

type podUse struct {
	cpu    time.Duration
	memory int64 // the working set now, in bytes
}

func (u use) names() []string { return slices.Sorted(maps.Keys(u.pods)) }

// readUsage asks kubelet what the containers use, and the API server how many requests it has answered.
func readUsage(t *testing.T, c *kube.Cluster) use {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	var nodes corev1.NodeList
	if err := c.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	u := use{pods: map[string]podUse{}}
	for _, node := range nodes.Items {
		text, err := clients.CoreV1().RESTClient().Get().Resource("nodes").Name(node.Name).SubResource("proxy").
			Suffix("stats", "summary").DoRaw(t.Context())
		if err != nil {
			t.Fatalf("read the use of Node %s: %v", node.Name, err)
		}
		var summary struct {
			Pods []struct {
				PodRef struct{ Name string }
				CPU    struct{ UsageCoreNanoSeconds int64 }
				Memory struct{ WorkingSetBytes int64 }
			}
		}
		if err := json.Unmarshal(text, &summary); err != nil {
			t.Fatal(err)
		}
		for _, pod := range summary.Pods {
			name := deploymentOf(pod.PodRef.Name)
			was := u.pods[name]
			u.pods[name] = podUse{was.cpu + time.Duration(pod.CPU.UsageCoreNanoSeconds),
				was.memory + pod.Memory.WorkingSetBytes}
		}
	}
	metrics, err := clients.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(metrics)) {
		if !strings.HasPrefix(line, "apiserver_request_total{") {
			continue
		}
		_, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		u.requests += int64(n)
	}
	return u
}

// deploymentOf removes the two random parts of a Pod's name. Static Pods have the name of their Node instead.
func deploymentOf(pod string) string {
	parts := strings.Split(pod, "-")
	if len(parts) < 3 || strings.Contains(pod, environmentName) {
		name, _, _ := strings.Cut(pod, "-"+environmentName)
		return name
	}
	return strings.Join(parts[:len(parts)-2], "-")
}
