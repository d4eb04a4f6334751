package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// mostOfConfiguration is the maximum size of a kubelet's configuration, in bytes.
const mostOfConfiguration = 1 << 20

// WithProfile adds the recommendations of a security profile that the running components of a cluster do not follow.
func (h Health) WithProfile(ctx context.Context, c *kube.Cluster, profile benchmark.Profile) Health {
	if profile.Name() == "" {
		return h
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	h.Findings, h.NotChecked = slices.Clone(h.Findings), slices.Clone(h.NotChecked)
	pods := &unstructured.UnstructuredList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	if err := c.List(ctx, pods, client.InNamespace("kube-system"),
		client.MatchingLabels{"tier": "control-plane"}); err != nil {
		return h.withoutProfile(profile, fmt.Errorf("list the Pods of the control plane: %w", err))
	}
	var list []*unstructured.Unstructured
	for i := range pods.Items {
		list = append(list, &pods.Items[i])
	}
	all := benchmark.OfPods(list)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h = h.withFailed(profile, "Pod/kube-system/"+name, all[name])
	}
	if len(all) == 0 {
		h = h.withoutProfile(profile, errors.New("found no static Pod of the control plane"))
	}
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return h.withoutProfile(profile, fmt.Errorf("list the Nodes: %w", err))
	}
	for _, node := range nodes.Items {
		arguments, err := kubeletOf(ctx, c, node.Name)
		if err != nil {
			h = h.withoutProfile(profile, fmt.Errorf("read the configuration of the kubelet of %s: %w", node.Name, err))
			continue
		}
		h = h.withFailed(profile, "Node/"+node.Name, arguments)
	}
	return h
}

// kubeletOf reads the configuration that the kubelet of a Node runs with.
func kubeletOf(ctx context.Context, c *kube.Cluster, node string) (benchmark.Arguments, error) {
	response, body, err := c.Raw(ctx, "/api/v1/nodes/"+node+"/proxy/configz", mostOfConfiguration)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the API server answers %s", response.Status)
	}
	var answer struct {
		Configuration map[string]any `json:"kubeletconfig"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Configuration) == 0 {
		return nil, errors.New("the answer has no kubeletconfig")
	}
	return benchmark.OfKubelet(answer.Configuration), nil
}

// withFailed adds the checks that an object does not pass.
func (h Health) withFailed(profile benchmark.Profile, object string,
	arguments benchmark.Arguments) Health {
	failed, _ := benchmark.Evaluate(arguments, profile.OfRunning())
	for _, f := range failed {
		h.Findings = append(h.Findings, Finding{ID: "security-profile", Object: object,
			Cause:    "it does not follow the security profile " + string(profile) + ": " + f.String(),
			Remedy:   "Remove the argument from cluster.kubernetes, or wait until all machines are replaced.",
			Severity: readiness.Warning, Confidence: readiness.HighConfidence})
	}
	return h
}

func (h Health) withoutProfile(profile benchmark.Profile, err error) Health {
	h.NotChecked = append(h.NotChecked, fmt.Sprintf("the security profile %s: %v", profile, err))
	return h
}
