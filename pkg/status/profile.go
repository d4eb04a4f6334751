package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// mostOfConfiguration is the maximum size of a kubelet's configuration, in bytes.
const mostOfConfiguration = 1 << 20

// kubeletBound limits reading the configuration of one kubelet, kubeletsAtOnce how many are read at the same time.
const (
	kubeletBound   = 10 * time.Second
	kubeletsAtOnce = 8
)

// withProfile adds the recommendations of a security profile that the running components of an observed cluster do not
// follow. It reads the configurations of the kubelets.
func (h Health) withProfile(ctx context.Context, c *kube.Cluster, o readiness.Observation,
	profile benchmark.Profile) Health {
	if profile.Name() == "" {
		return h
	}
	pods := slices.DeleteFunc(objectsOf(o, "Pod"), func(pod *unstructured.Unstructured) bool {
		return pod.GetNamespace() != "kube-system" // others may have the labels too
	})
	controlPlane := benchmark.OfPods(pods)
	for _, name := range slices.Sorted(maps.Keys(controlPlane)) {
		h = h.withFailed(profile, "Pod/kube-system/"+name, controlPlane[name])
	}
	if len(controlPlane) == 0 {
		h = h.withoutProfile(profile, errors.New("found no static Pod of the control plane"))
	}
	nodes := objectsOf(o, "Node")
	kubelets, errs := make([]benchmark.Arguments, len(nodes)), make([]error, len(nodes))
	var g errgroup.Group // an error ends no other read
	g.SetLimit(kubeletsAtOnce)
	for i, node := range nodes {
		g.Go(func() error {
			kubelets[i], errs[i] = kubeletOf(ctx, c, node.GetName())
			return nil
		})
	}
	_ = g.Wait()
	for i, node := range nodes {
		if errs[i] != nil {
			h = h.withoutProfile(profile, fmt.Errorf("read the configuration of the kubelet of %s: %w", node.GetName(),
				errs[i]))
			continue
		}
		h = h.withFailed(profile, "Node/"+node.GetName(), kubelets[i])
	}
	return h
}

// objectsOf returns the observed objects of a kind of Kubernetes' core.
func objectsOf(o readiness.Observation, kind string) (objects []*unstructured.Unstructured) {
	for _, object := range o.Objects {
		if object.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: kind}) {
			objects = append(objects, object)
		}
	}
	return objects
}

// kubeletOf reads the configuration that the kubelet of a Node runs with.
func kubeletOf(ctx context.Context, c *kube.Cluster, node string) (benchmark.Arguments, error) {
	ctx, cancel := context.WithTimeout(ctx, kubeletBound)
	defer cancel()
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
		return nil, fmt.Errorf("parse the answer: %w", err)
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
