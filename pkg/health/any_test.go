package health_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/health"
)

func TestOfAny(t *testing.T) {
	for name, tc := range map[string]struct {
		object string
		want   health.State
	}{
		"a Pod that was thrown out is no Pod that is done": {`{apiVersion: v1, kind: Pod, status: {phase: Failed, reason: Evicted, message: no room}}`,
			health.State{Status: health.Failed, Reason: "Evicted", Message: "no room"}},
		"a Pod that is done": {`{apiVersion: v1, kind: Pod, status: {phase: Succeeded}}`,
			health.State{Status: health.Ready, Message: "Pod has completed successfully"}},
		"what nothing happens to": {`{apiVersion: v1, kind: ConfigMap}`,
			health.State{Status: health.Ready, Message: "Resource is always ready"}},
		"what its controller has not seen yet": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine}`,
			health.State{Status: health.Progressing, Message: "has no status yet"}},
		"what has no status at all": {`{apiVersion: example.org/v1, kind: Thing}`,
			health.State{Status: health.Ready}},
	} {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(tc.object), &u.Object); err != nil {
			t.Fatal(err)
		}
		if got := health.OfAny(u); got != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
