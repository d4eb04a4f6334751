package capi

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestVersionOf(t *testing.T) {
	rows := map[string]string{
		"registry.k8s.io/cluster-api/cluster-api-controller:v1.14.0":     "v1.14.0",
		"registry:5000/registry.k8s.io/cluster-api/capd-manager:v1.14.0": "v1.14.0",
		"registry:5000/cluster-api/capd-manager":                         "latest",
		"registry:5000/cluster-api/capd-manager@sha256:0123":             "sha256:0123",
		"registry.k8s.io/cluster-api/capd-manager:v1.14.0@sha256:0123":   "v1.14.0",
		"capd-manager:dev": "dev",
	}
	for image, want := range rows {
		containers := []corev1.Container{{Name: "proxy", Image: "proxy:v9"}, {Name: "manager", Image: image}}
		if got := versionOf(containers); got != want {
			t.Errorf("version of %s is %q, want %q", image, got, want)
		}
	}
	if got := versionOf([]corev1.Container{{Name: "other", Image: "x:v3"}}); got != "v3" {
		t.Errorf("without a container named manager the version is %q, want that of the first", got)
	}
}

func TestDeploymentReady(t *testing.T) {
	ready := appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 1, AvailableReplicas: 1}
	rows := map[string]struct {
		replicas *int32
		edit     func(*appsv1.DeploymentStatus)
		want     bool
	}{
		"ready":                {nil, func(*appsv1.DeploymentStatus) {}, true},
		"scaled to zero":       {ptr.To[int32](0), func(*appsv1.DeploymentStatus) {}, false},
		"one of two":           {ptr.To[int32](2), func(*appsv1.DeploymentStatus) {}, false},
		"old spec":             {nil, func(s *appsv1.DeploymentStatus) { s.ObservedGeneration = 1 }, false},
		"old pod still serves": {nil, func(s *appsv1.DeploymentStatus) { s.UpdatedReplicas = 0 }, false},
		"not available":        {nil, func(s *appsv1.DeploymentStatus) { s.AvailableReplicas = 0 }, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{Status: ready}
			d.Generation, d.Spec.Replicas = 2, row.replicas
			row.edit(&d.Status)
			got, why := deploymentReady(d)
			if got != row.want || got == (why != "") {
				t.Errorf("got %v %q, want %v with a reason when not", got, why, row.want)
			}
		})
	}
}
