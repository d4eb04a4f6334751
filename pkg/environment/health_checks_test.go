package environment_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// healthChecks returns those of a cluster by name: up to how many failed machines each replaces.
func healthChecks(t *testing.T, env *environment.Environment, phase environment.Phase) map[string]string {
	t.Helper()
	components, err := env.Components(phase)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, c := range components {
		if c.Path != "./kustomize-components/health-checks" {
			continue
		}
		for _, object := range appliedIn(t, env, phase, c.Name) {
			var check clusterv1.MachineHealthCheck
			err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &check, true)
			if err != nil {
				t.Fatal(err)
			}
			found[check.Name] = check.Spec.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo.String()
		}
	}
	return found
}

func TestHealthChecks(t *testing.T) {
	const more = "cluster.control_plane.replicas="
	three := more + "3"
	off := "cluster.health_checks."
	for name, tc := range map[string]struct {
		sets []string
		want map[string]string
	}{
		"never the only control-plane machine": {nil, map[string]string{"workers": "1"}},
		"one of three":                         {[]string{three}, map[string]string{"control-plane": "1", "workers": "1"}},
		"two of five":                          {[]string{more + "5"}, map[string]string{"control-plane": "2", "workers": "1"}},
		"less than etcd can lose": {[]string{more + "5", off + "control_plane.max_unhealthy=1"},
			map[string]string{"control-plane": "1", "workers": "1"}},
		"two of five workers": {[]string{"cluster.worker.replicas=5"}, map[string]string{"workers": "2"}},
		"one of four workers": {[]string{"cluster.worker.replicas=4"}, map[string]string{"workers": "1"}},
		"a percentage": {[]string{"cluster.worker.replicas=4", off + "workers.max_unhealthy=50%"},
			map[string]string{"workers": "50%"}},
		"a number":          {[]string{off + "workers.max_unhealthy=3"}, map[string]string{"workers": "3"}},
		"an autoscaler's":   {[]string{"cluster.worker.replicas=null"}, map[string]string{"workers": "1"}},
		"off":               {[]string{three, off + "enabled=false"}, map[string]string{}},
		"no control plane":  {[]string{three, off + "control_plane.enabled=false"}, map[string]string{"workers": "1"}},
		"no workers":        {[]string{three, off + "workers.enabled=false"}, map[string]string{"control-plane": "1"}},
		"another component": {[]string{"components.health-checks.enabled=false"}, map[string]string{}},
		"no pod network":    {[]string{"cni=none"}, map[string]string{"workers": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := load(t, environment.Options{Sets: tc.sets})
			want := map[string]string{}
			for name, most := range tc.want {
				want["kubeadm-capd-"+name] = most
			}
			for phase, expected := range map[environment.Phase]map[string]string{environment.Management: want,
				environment.Bootstrap: {}} {
				if diff := cmp.Diff(expected, healthChecks(t, env, phase)); diff != "" {
					t.Errorf("phase %s (-want +got):\n%s", phase, diff)
				}
			}
		})
	}
}

// 40% of one or two machines is zero, so only larger pools have a percentage.
func TestHealthChecksOfAnAutoscaler(t *testing.T) {
	for least, most := range map[string]string{"": "1", "1": "1", "2": "1", "3": "40%", "12": "40%"} {
		values := "cluster: {worker: {replicas: null}}"
		if least != "" {
			values = "cluster: {worker: {replicas: null, annotations: " +
				"{cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: \"" + least + "\"}}}"
		}
		env := load(t, environment.Options{ValuesFiles: []string{filepath.Join(folder(t, map[string]string{
			"pool.yaml": values}), "pool.yaml")}})
		want := map[string]string{"kubeadm-capd-workers": most}
		if diff := cmp.Diff(want, healthChecks(t, env, environment.Management)); diff != "" {
			t.Errorf("minimum %q (-want +got):\n%s", least, diff)
		}
	}
}

// Each environment has them, and each further pool its own. They are applied in the management cluster, and change no
// name of a template.
func TestHealthChecksOfAllEnvironments(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "rke2-capd", "kubeadm-capo", "rke2-capo", "kubeadm-capa"} {
		t.Run(name, func(t *testing.T) {
			sets := []string{"cluster.control_plane.replicas=3",
				"cluster.openstack.api_server.managed_floating_ip=192.0.2.7"}
			env := load(t, withPools(t, name, sets...))
			want := map[string]string{name + "-control-plane": "1", name + "-workers": "1", name + "-workers-gpu": "1",
				name + "-workers-1e3": "1"}
			if diff := cmp.Diff(want, healthChecks(t, env, environment.Management)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			without := load(t, withPools(t, name, append(sets, "cluster.health_checks.enabled=false")...))
			before, errBefore := without.Templates()
			after, errAfter := env.Templates()
			if diff := cmp.Diff(before, after); diff != "" || errBefore != nil || errAfter != nil {
				t.Errorf("machines are replaced (%v, %v): %s", errBefore, errAfter, diff)
			}
			if name == "kubeadm-capd" {
				objects := append(applied(t, env, "health-checks"), applied(t, env, "health-checks-gpu")...)
				golden.Check(t, filepath.Join("pools", "health-checks.yaml"), toYAML(t, objects))
			}
		})
	}
}

// Without a floating IP in the values the provider made the one of the API server, and deletes it with its machine: no
// control-plane machine may be replaced then, whatever the values say.
func TestHealthChecksKeepTheAddress(t *testing.T) {
	const at = "cluster.openstack.api_server."
	for name, tc := range map[string]struct {
		sets []string
		want bool
	}{
		"the provider's address": {nil, false},
		"asked for":              {[]string{"cluster.health_checks.control_plane.enabled=true"}, false},
		"the address of up":      {[]string{at + "managed_floating_ip=192.0.2.7"}, true},
		"the user's address":     {[]string{at + "floating_ip=192.0.2.7"}, true},
		"a load balancer":        {[]string{at + "mode=octavia"}, true},
	} {
		for _, environmentName := range []string{"kubeadm-capo", "rke2-capo"} {
			t.Run(environmentName+", "+name, func(t *testing.T) {
				env := load(t, environment.Options{Name: environmentName, Variables: variables(allVariables()),
					Sets: append([]string{"cluster.control_plane.replicas=3", at + "mode=floating-ip"}, tc.sets...)})
				_, got := healthChecks(t, env, environment.Management)[environmentName+"-control-plane"]
				if got != tc.want {
					t.Errorf("a failed control-plane machine is replaced: %v, want %v", got, tc.want)
				}
			})
		}
	}
}

// They wait until what they need was ready once. A failed machine may keep it from being ready again, and only they
// replace the machine. After a pivot nothing in the management cluster was ready yet but the pod network.
func TestHealthChecksWaitForThePodNetwork(t *testing.T) {
	for name, tc := range map[string]struct {
		phase environment.Phase
		sets  []string
		want  []string
	}{
		"of the management cluster":  {environment.Management, nil, []string{"cni"}},
		"that cluster-init installs": {environment.Management, []string{"cni=none"}, nil},
		"that is on":                 {environment.Management, []string{"components.cni.enabled=false"}, nil},
		"of a workload cluster":      {environment.Workload, nil, []string{"shop-cluster", "shop-cni"}},
		"of pools":                   {environment.Management, nil, []string{"cni", "cni", "cni"}},
		"of a workload cluster's pools": {environment.Workload, nil, []string{"shop-cluster", "shop-cni",
			"shop-cluster", "shop-cni", "shop-workers-1e3", "shop-cluster", "shop-cni", "shop-workers-gpu"}},
		"of the cluster with machines": {environment.Management, []string{"components.cluster.enabled=false"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			options := environment.Options{Sets: tc.sets}
			if strings.Contains(name, "pools") {
				options = withPools(t, "kubeadm-capd")
			}
			if tc.phase == environment.Workload {
				options = asWorkload(options)
			}
			options.Installed = slices.Contains(tc.sets, "components.cluster.enabled=false")
			rendered, err := load(t, options).Render(tc.phase, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range rendered {
				if path, _, _ := unstructured.NestedString(o.Object, "spec", "path"); filepath.Base(path) != "health-checks" {
					continue
				}
				dependencies, _, _ := unstructured.NestedSlice(o.Object, "spec", "dependsOn")
				for _, d := range dependencies {
					on := d.(map[string]any)
					got = append(got, on["name"].(string))
					if on["readyExpr"] != "has(dep.status.lastAppliedRevision)" {
						t.Errorf("they wait for %v", on)
					}
				}
				if _, elsewhere, _ := unstructured.NestedMap(o.Object, "spec", "kubeConfig"); elsewhere {
					t.Error("they would be applied in the workload cluster")
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What would replace machines that start, or lose the cluster, is refused by its name.
func TestHealthChecksThatAreRefused(t *testing.T) {
	refuses(t, "cluster.", map[string]refusedValue{
		"one control-plane machine": {"", "health_checks.control_plane.enabled=true",
			"cluster.health_checks.control_plane.enabled is true, but cluster.control_plane.replicas is 1"},
		"more than etcd can lose": {"", "control_plane.replicas=3,cluster.health_checks.control_plane.max_unhealthy=2",
			"max_unhealthy is 2, but 3 control-plane machines lose etcd's quorum when 2 of them fail"},
		"shorter than a boot": {"", "health_checks.node_startup_seconds=299",
			"cluster.health_checks.node_startup_seconds is 299, shorter than a boot: each new machine"},
		"shorter than an installation": {"", "kubernetes_source=boot,cluster.machineadm.enabled=true," +
			"cluster.health_checks.node_startup_seconds=900", "shorter than a boot of machines that install Kubernetes"},
		"longer than the limit of retries": {"", "health_checks.node_startup_seconds=3601", "maximum"},
		"shorter than a restart": {"", "health_checks.unhealthy_seconds=59",
			"cluster.health_checks.unhealthy_seconds is 59, shorter than a boot: a machine that restarts"},
		"a server that is being made": {"", "health_checks.infrastructure_seconds=1199",
			"infrastructure_seconds is 1199, shorter than a boot (node_startup_seconds is 1200)"},
		"not more than all": {"", "health_checks.workers.max_unhealthy=101%", "does not match pattern"},
		"a component of that name": {"", "workers.gpu.replicas=1,components.health-checks-gpu.enabled=true," +
			"components.health-checks-gpu.path=./x", "needs a Kustomization health-checks-gpu"},
	})
}
