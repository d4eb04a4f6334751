package status

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// What runs is checked. What cannot be read is not checked, and never counts as good or as bad.
func TestWithProfile(t *testing.T) {
	const good = `{"kubeletconfig": {"authentication": {"anonymous": {"enabled": false}, "x509": {"clientCAFile": "/a"}},
		"authorization": {"mode": "Webhook"}, "streamingConnectionIdleTimeout": "4h0m0s", "rotateCertificates": true,
		"tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"], "podPidsLimit": 4096}}`
	scheduler := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler-one",
			Labels: map[string]string{"component": "kube-scheduler", "tier": "control-plane"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: []string{"kube-scheduler", "--profiling=false"}}}}}
	foreign := scheduler.DeepCopy()
	foreign.Namespace, foreign.Spec.Containers[0].Command[1] = "team", "--profiling=true"
	profiling := scheduler.DeepCopy()
	profiling.Spec.Containers[0].Command[1] = "--profiling=true"
	node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	for name, tc := range map[string]struct {
		profile    benchmark.Profile
		objects    []runtime.Object
		kubelet    string
		code       int
		found      []string // objects
		notChecked string
	}{
		"all as it should be": {profile: "cis", objects: []runtime.Object{scheduler, node}, kubelet: good},
		"a Pod of a user":     {profile: "cis", objects: []runtime.Object{scheduler, foreign, node}, kubelet: good},
		"no profile":          {profile: "default", objects: []runtime.Object{profiling}},
		"a scheduler": {profile: "cis", objects: []runtime.Object{profiling, node}, kubelet: good,
			found: []string{"Pod/kube-system/kube-scheduler-one"}},
		"a kubelet": {profile: "cis", objects: []runtime.Object{scheduler, node},
			kubelet: strings.Replace(good, "4096", "-1", 1), found: []string{"Node/one"}},
		"a kubelet that does not answer": {profile: "cis", objects: []runtime.Object{scheduler, node}, kubelet: "{}",
			code: http.StatusBadGateway, notChecked: "the kubelet of one"},
		"a kubelet that answers something else": {profile: "cis", objects: []runtime.Object{scheduler, node},
			kubelet: "<html>", notChecked: "the kubelet of one"},
		"a kubelet without a configuration": {profile: "cis", objects: []runtime.Object{scheduler, node}, kubelet: "{}",
			notChecked: "the kubelet of one"},
		"no static Pod": {profile: "cis", objects: []runtime.Object{node}, kubelet: good,
			notChecked: "found no static Pod"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/v1/nodes/one/proxy/configz" {
					http.NotFound(w, r)
					return
				}
				w.WriteHeader(max(tc.code, http.StatusOK))
				_, _ = w.Write([]byte(tc.kubelet))
			}))
			defer server.Close()
			c := &kube.Cluster{Name: "management", Config: &rest.Config{Host: server.URL}}
			h := Health{}.withProfile(t.Context(), c, observed(t, tc.objects), tc.profile)
			var found []string
			for _, f := range h.Findings {
				found = append(found, f.Object)
			}
			notChecked := strings.Join(h.NotChecked, "; ")
			if !slices.Equal(found, tc.found) || !strings.Contains(notChecked, tc.notChecked) ||
				tc.notChecked == "" && notChecked != "" {
				t.Errorf("found %q, not checked: %s", found, notChecked)
			}
		})
	}
}

// observed is an observation of these objects.
func observed(t *testing.T, objects []runtime.Object) readiness.Observation {
	t.Helper()
	var o readiness.Observation
	for _, object := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		o.Objects = append(o.Objects, &unstructured.Unstructured{Object: content})
	}
	return o
}
