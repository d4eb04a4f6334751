package environment_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	agePublic = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	sshPublic = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB1m1d8Y8Zf4hVxH9fQq5d3x0d2Vt5o6Qn7mV0l5wQ8C"
)

// scheduled are values with backups on a schedule, and more of cluster.backup.
func scheduled(more map[string]any) map[string]any {
	backup := map[string]any{"image": "registry.example.org:5000/cluster-init:v1", "recipients": []any{agePublic},
		"volume": map[string]any{"nfs": map[string]any{"server": "nfs.example.org", "path": "/backups"}}}
	maps.Copy(backup, more)
	return map[string]any{"cluster": map[string]any{"backup": backup},
		"components": map[string]any{"backup": map[string]any{"enabled": "management-only"}}}
}

// loadScheduled loads an environment with these values.
func loadScheduled(t *testing.T, name string, more map[string]any, sets ...string) *environment.Environment {
	t.Helper()
	return load(t, environment.Options{Name: name, Variables: variables(allVariables()), Sets: sets,
		ValuesFiles: []string{valuesFile(t, scheduled(more))}})
}

// cronJob returns the CronJob of the component, as an API server reads it.
func cronJob(t *testing.T, env *environment.Environment) (batchv1.CronJob, *unstructured.Unstructured) {
	t.Helper()
	var job batchv1.CronJob
	objects := applied(t, env, owned.BackupComponent)
	if len(objects) != 1 {
		t.Fatalf("the component applies %v", objects)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(objects[0].Object, &job,
		true); err != nil {
		t.Fatal(err)
	}
	return job, objects[0]
}

func TestBackupsOnASchedule(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "rke2-capd", "kubeadm-capo", "rke2-capo", "kubeadm-capa"} {
		t.Run(name, func(t *testing.T) {
			env := loadScheduled(t, name, map[string]any{"schedule": "0,30 * * jan-mar */2", "keep": 3,
				"recipients": []any{" " + agePublic, sshPublic + ` me ${CLUSTER_NAME} $(HOME) "quoted" # x`},
				"volume": map[string]any{"nfs": map[string]any{"server": "nfs.example.org",
					"path": `/a: b #${CLUSTER_NAME} "c"`}}})
			job, object := cronJob(t, env)
			container := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
			want := []string{"backup", name, "--set=cluster.name=" + name, "--set=cluster.namespace=management",
				"--kubeconfig=/kubeconfig/value", "--output-dir=/backups", "--keep=3", "--output=json",
				"--recipient=" + agePublic, "--recipient=" + sshPublic}
			if strings.HasPrefix(name, "kubeadm-") {
				want = append(want, "--etcd")
			}
			if diff := cmp.Diff(want, container.Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			volumes := job.Spec.JobTemplate.Spec.Template.Spec.Volumes
			if last := volumes[len(volumes)-1]; last.Name != "backups" || last.NFS == nil ||
				last.NFS.Path != `/a: b #${CLUSTER_NAME} "c"` {
				t.Errorf("volumes %+v", volumes)
			}
			if job.Namespace != "management" || job.Labels[owned.BackupLabel] != name ||
				job.Spec.Schedule != "0,30 * * jan-mar */2" || container.Image != "registry.example.org:5000/cluster-init:v1" {
				t.Errorf("%s/%s %v, at %q, from %s", job.Namespace, job.Name, job.Labels, job.Spec.Schedule, container.Image)
			}
			if name == "kubeadm-capd" {
				golden.Check(t, filepath.Join("backup", name+".yaml"),
					toYAML(t, []*unstructured.Unstructured{object}))
			}
		})
	}
}

// What the Pod may do, and that its environment is a built-in one: the folder of the user's is not there.
func TestThePodOfABackup(t *testing.T) {
	for _, name := range environment.List(clusterinit.Content()) {
		job, _ := cronJob(t, loadScheduled(t, name, nil, "registry_secret.r.username=u", "registry_secret.r.password=p"))
		pod := job.Spec.JobTemplate.Spec.Template.Spec
		container := pod.Containers[0]
		if !slices.Contains(environment.List(clusterinit.Content()), container.Args[1]) {
			t.Errorf("the container runs %s, which is not an environment", container.Args[1])
		}
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken ||
			pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
			!*pod.SecurityContext.RunAsNonRoot || !*container.SecurityContext.ReadOnlyRootFilesystem ||
			*container.SecurityContext.AllowPrivilegeEscalation ||
			!slices.Equal(container.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: %+v, %+v", name, pod.SecurityContext, container.SecurityContext)
		}
		written := map[string]bool{}
		for _, mount := range container.VolumeMounts {
			written[mount.MountPath] = !mount.ReadOnly
		}
		if diff := cmp.Diff(map[string]bool{"/backups": true, "/tmp": true, "/kubeconfig": false}, written); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if secret := pod.Volumes[0].Secret; secret == nil || secret.SecretName != name+"-kubeconfig" ||
			len(secret.Items) != 1 || secret.Items[0].Key != "value" {
			t.Errorf("%s: %+v", name, pod.Volumes[0])
		}
		if !slices.Equal(pod.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "telco-cloud-init-registry"}}) {
			t.Errorf("%s: %v", name, pod.ImagePullSecrets)
		}
	}
}

func TestEtcdInBackupsOnASchedule(t *testing.T) {
	for name, tc := range map[string]struct {
		environment string
		etcd        any
		want        bool
	}{
		"kubeadm":        {"kubeadm-capd", "auto", true},
		"kubeadm, never": {"kubeadm-capd", false, false},
		"rke2":           {"rke2-capd", "auto", false},
		"rke2, asked":    {"rke2-capd", true, true},
	} {
		job, _ := cronJob(t, loadScheduled(t, tc.environment, map[string]any{"etcd": tc.etcd}))
		args := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args
		if slices.Contains(args, "--etcd") != tc.want {
			t.Errorf("%s: %v", name, args)
		}
	}
}

// Backups are made of the management cluster, in it, once it has its own definition. Nothing takes them away, and no
// machine is replaced for them.
func TestWhereBackupsAreMade(t *testing.T) {
	has := func(env *environment.Environment, phase environment.Phase) bool {
		components, err := env.Components(phase)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(components, func(c environment.Component) bool { return c.Name == owned.BackupComponent })
		if i >= 0 && components[i].Deletes {
			t.Errorf("%s: Flux deletes it", phase)
		}
		return i >= 0
	}
	for _, enabled := range []string{"management-only", "true"} {
		set := "components.backup.enabled=" + enabled
		env := loadScheduled(t, "kubeadm-capd", nil, set)
		if has(env, environment.Bootstrap) || !has(env, environment.Management) {
			t.Errorf("%s: it is not in the management cluster alone", enabled)
		}
		workload := load(t, asWorkload(environment.Options{Sets: []string{set},
			ValuesFiles: []string{valuesFile(t, scheduled(nil))}}))
		if has(workload, environment.Workload) {
			t.Errorf("%s: a workload cluster has it", enabled)
		}
		before, errBefore := load(t, environment.Options{}).Templates()
		after, errAfter := env.Templates()
		if diff := cmp.Diff(before, after); diff != "" || errBefore != nil || errAfter != nil {
			t.Errorf("machines are replaced (%v, %v): %s", errBefore, errAfter, diff)
		}
	}
	if has(load(t, environment.Options{}), environment.Management) {
		t.Error("it is there without being asked for")
	}
	for _, object := range rendered(t, loadScheduled(t, "kubeadm-capd", nil)) {
		if object.GetKind() != "Kustomization" || object.GetName() != owned.BackupComponent {
			continue
		}
		prune, _, _ := unstructured.NestedBool(object.Object, "spec", "prune")
		dependsOn, _, err := unstructured.NestedSlice(object.Object, "spec", "dependsOn")
		want := []any{map[string]any{"name": "cluster"}}
		if diff := cmp.Diff(want, dependsOn); prune || err != nil || diff != "" {
			t.Errorf("prune %t, %v, dependsOn (-want +got):\n%s", prune, err, diff)
		}
	}
	env, err := loadScheduled(t, "kubeadm-capd", nil).Render(environment.Management,
		map[string]any{"components": map[string]any{"cluster": map[string]any{"enabled": false}}})
	if err != nil || slices.ContainsFunc(env, func(u *unstructured.Unstructured) bool {
		return u.GetName() == owned.BackupComponent
	}) {
		t.Errorf("it is there before the cluster has its definition (%v)", err)
	}
}

// takenSchedules have all forms that a schedule may have.
var takenSchedules = []string{"17 3 * * *", " 17  3 * * * ", "* * * * *", "*/5 0-23/2 1,15 JAN-dec/3 mon-Fri",
	"59 23 31 12 6", "00 03 01 01 ?"}

func TestSchedulesOfBackups(t *testing.T) {
	for _, schedule := range takenSchedules {
		job, _ := cronJob(t, loadScheduled(t, "kubeadm-capd", map[string]any{"schedule": schedule}))
		if job.Spec.Schedule != schedule {
			t.Errorf("%q became %q", schedule, job.Spec.Schedule)
		}
	}
}

// What a volume costs its owner, and what no Pod could have, is said.
func TestWarningsAboutBackups(t *testing.T) {
	const level = "cluster.kubernetes.admission.pod_security.enforce="
	nfs := map[string]any{"nfs": map[string]any{"server": "x", "path": "/y"}}
	host := map[string]any{"hostPath": map[string]any{"path": "/y"}}
	claim := map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "x"}}
	exempt := "cluster.kubernetes.admission.pod_security.exempt_namespaces={management}"
	for name, tc := range map[string]struct {
		volume map[string]any
		sets   []string
		want   []string
	}{
		"nfs":      {nfs, nil, nil},
		"hostPath": {host, nil, []string{"a folder of a machine"}},
		"restricted nfs": {nfs, []string{level + "restricted"}, []string{"of kind nfs, which the Pod security level " +
			"restricted refuses"}},
		"baseline nfs": {nfs, []string{level + "baseline"}, nil},
		"baseline hostPath": {host, []string{level + "baseline"}, []string{"a folder of a machine",
			"level baseline refuses"}},
		"exempt":              {nfs, []string{level + "restricted", exempt}, nil},
		"a claim, restricted": {claim, []string{level + "restricted"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			env := loadScheduled(t, "kubeadm-capd", map[string]any{"volume": tc.volume}, tc.sets...)
			warnings, err := env.Warnings()
			got := slices.DeleteFunc(warnings, func(w string) bool { return !strings.Contains(w, "cluster.backup") })
			fits := err == nil && len(got) == len(tc.want)
			for i, want := range tc.want {
				fits = fits && strings.Contains(got[i], want)
			}
			if !fits {
				t.Errorf("%v, %q, want %q", err, got, tc.want)
			}
		})
	}
}
