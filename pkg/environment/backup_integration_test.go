//go:build integration

package environment_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A real API server takes the CronJob of each environment, with the forms of schedules that the chart takes. Its Pods
// pass the strictest level of Pod security, if their volume does.
func TestBackupsAreTaken(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	server, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cluster, err := kube.Connect("management", server.Kubeconfig(), scheme)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "management",
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}); err != nil {
		t.Fatal(err)
	}
	strict := []client.CreateOption{client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)}
	for _, name := range []string{"kubeadm-capd", "rke2-capo", "kubeadm-capa"} {
		for _, schedule := range takenSchedules {
			_, object := cronJob(t, loadScheduled(t, name, map[string]any{"schedule": schedule}))
			if err := cluster.Create(ctx, object, strict...); err != nil {
				t.Errorf("%s, %q: %v", name, schedule, err)
			}
		}
	}
	for kind, passes := range map[string]bool{"persistentVolumeClaim": true, "nfs": false} {
		volume := map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "backups"},
			"nfs": map[string]any{"server": "nfs.example.org", "path": "/backups"}}
		job, _ := cronJob(t, loadScheduled(t, "kubeadm-capd", map[string]any{"volume": map[string]any{
			kind: volume[kind]}}))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "management", Name: "backup"},
			Spec: job.Spec.JobTemplate.Spec.Template.Spec}
		if err := cluster.Create(ctx, pod, strict...); (err == nil) != passes {
			t.Errorf("a Pod with the volume %s: %v", kind, err)
		}
	}
}
