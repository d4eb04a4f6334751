package kube_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

func TestStateOf(t *testing.T) {
	tests := map[string]struct {
		object string
		want   kube.State
	}{
		"no status": {
			object: `{kind: Kustomization, metadata: {generation: 1}}`,
			want:   kube.State{State: kube.StateProgressing, Message: "has no status yet"}},
		"conditions of other types only": {
			object: `{metadata: {generation: 1}, status: {conditions: [{type: Reconciling, status: "True", message: working}]}}`,
			want:   kube.State{State: kube.StateProgressing, Message: "has no status yet"}},
		"Flux, ready": {
			object: `{metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", observedGeneration: 2, reason: ReconciliationSucceeded, message: Applied}]}}`,
			want:   kube.State{State: kube.StateReady, Reason: "ReconciliationSucceeded", Message: "Applied"}},
		"Flux, not ready": {
			object: `{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: "False", observedGeneration: 2, reason: DependencyNotReady, message: dependency 'capi' is not ready}]}}`,
			want:   kube.State{State: kube.StateProgressing, Reason: "DependencyNotReady", Message: "dependency 'capi' is not ready"}},
		"Flux, unknown": {
			object: `{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: Unknown, observedGeneration: 2, reason: Progressing, message: Building}]}}`,
			want:   kube.State{State: kube.StateProgressing, Reason: "Progressing", Message: "Building"}},
		"Flux, ready at an older generation": {
			object: `{metadata: {generation: 3}, status: {observedGeneration: 3, conditions: [{type: Ready, status: "True", observedGeneration: 2, message: Applied}]}}`,
			want:   kube.State{State: kube.StateProgressing, Message: "Applied"}},
		"ready, the generation in the status only": {
			object: `{metadata: {generation: 3}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   kube.State{State: kube.StateProgressing, Message: "Applied"}},
		"ready, no generation anywhere": {
			object: `{metadata: {generation: 3}, status: {conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   kube.State{State: kube.StateReady, Message: "Applied"}},
		"Flux, stalled": {
			object: `{metadata: {generation: 1}, status: {conditions: [{type: Ready, status: "False", observedGeneration: 1, message: no path}, {type: Stalled, status: "True", observedGeneration: 1, reason: RetriesExceeded, message: gave up}]}}`,
			want:   kube.State{State: kube.StateFailed, Reason: "RetriesExceeded", Message: "gave up"}},
		"Flux, no longer stalled": {
			object: `{metadata: {generation: 1}, status: {conditions: [{type: Stalled, status: "False", message: was}, {type: Ready, status: "True", message: Applied}]}}`,
			want:   kube.State{State: kube.StateReady, Message: "Applied"}},
		"Flux, stalled before its spec was mended": {
			object: `{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Stalled, status: "True", observedGeneration: 1, reason: RetriesExceeded, message: gave up}, {type: Ready, status: "False", observedGeneration: 1, message: no path}]}}`,
			want:   kube.State{State: kube.StateProgressing, Message: "no path"}},
		"Flux, suspended": {
			object: `{spec: {suspend: true}, status: {conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   kube.State{State: kube.StateSuspended, Message: "is suspended"}},
		"Flux, not suspended": {
			object: `{spec: {suspend: false}, status: {conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   kube.State{State: kube.StateReady, Message: "Applied"}},
		"deleting, suspended and ready": {
			object: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {suspend: true}, status: {conditions: [{type: Ready, status: "True"}]}}`,
			want:   kube.State{State: kube.StateDeleting, Message: "is being deleted"}},
		"Cluster API, available": {
			object: `{kind: Cluster, metadata: {generation: 4}, status: {conditions: [{type: Paused, status: "False"}, {type: Available, status: "True", observedGeneration: 4, reason: Available, message: ""}]}}`,
			want:   kube.State{State: kube.StateReady, Reason: "Available"}},
		"Cluster API, not available": {
			object: `{kind: Cluster, metadata: {generation: 4}, status: {conditions: [{type: Available, status: "False", observedGeneration: 4, reason: NotAvailable, message: "* RemoteConnectionProbe: not yet"}]}}`,
			want:   kube.State{State: kube.StateProgressing, Reason: "NotAvailable", Message: "* RemoteConnectionProbe: not yet"}},
		"Cluster API, a Machine: Ready counts before Available": {
			object: `{kind: Machine, status: {conditions: [{type: Available, status: "True"}, {type: Ready, status: "False", reason: NotReady}]}}`,
			want:   kube.State{State: kube.StateProgressing, Reason: "NotReady"}},
		"Cluster API, a sum of conditions": {
			object: `{kind: AWSCluster, status: {conditions: [{type: Ready, status: "False", reason: VpcFailed, message: 0 of 8 completed}, {type: Other, status: "False", reason: Else, message: no}, {type: VpcReady, status: "False", reason: VpcFailed, message: no credentials}]}}`,
			want:   kube.State{State: kube.StateProgressing, Reason: "VpcFailed", Message: "VpcReady: no credentials"}},
		"Cluster API, a sum of conditions that say no more": {
			object: `{kind: AWSCluster, status: {conditions: [{type: Ready, status: "False", reason: Started, message: 1 of 8 completed}, {type: VpcReady, status: "False", reason: Started}]}}`,
			want:   kube.State{State: kube.StateProgressing, Reason: "Started", Message: "1 of 8 completed"}},
		"Deployment, available": {
			object: `{kind: Deployment, metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Progressing, status: "True"}, {type: Available, status: "True", reason: MinimumReplicasAvailable, message: fine}]}}`,
			want:   kube.State{State: kube.StateReady, Reason: "MinimumReplicasAvailable", Message: "fine"}},
		"Deployment, available in its older form": {
			object: `{kind: Deployment, metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Available, status: "True", reason: MinimumReplicasAvailable}]}}`,
			want:   kube.State{State: kube.StateProgressing, Reason: "MinimumReplicasAvailable"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := kube.StateOf(object(t, tc.object)); got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestPaused(t *testing.T) {
	for text, want := range map[string]bool{
		`{spec: {paused: true}}`:  true,
		`{spec: {paused: false}}`: false,
		`{}`:                      false,
		`{metadata: {annotations: {cluster.x-k8s.io/paused: ""}}}`: true,
	} {
		if got := kube.Paused(object(t, text)); got != want {
			t.Errorf("%s: paused %t", text, got)
		}
	}
}

// object reads YAML as an API server would give it: whole numbers are int64.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
