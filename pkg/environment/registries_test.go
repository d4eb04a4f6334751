package environment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

const ownPods = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: own, namespace: x}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: own, namespace: x}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {imagePullSecrets: [{name: its-own}], containers: [{name: a, image: b}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: own, namespace: x}
spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {imagePullSecrets: [{name: its-own}], restartPolicy: Never, containers: [{name: a, image: b}]}}}}}
`

// A component keeps the pull secrets that it has.
func TestPullSecretsAreAdded(t *testing.T) {
	files := filesys.MakeFsInMemory()
	for name, text := range map[string]string{"/own/kustomization.yaml": "resources: [pods.yaml]\n",
		"/own/pods.yaml": ownPods} {
		if err := files.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	objects := rendered(t, load(t, environment.Options{Sets: []string{"components.own.enabled=true",
		"components.own.path=./own", "components.own.namespaces={x}",
		"registry_secret.r.username=u", "registry_secret.r.password=p"}}))
	applied, err := flux.NewKustomizer(files).Apply(t.Context(), find(t, objects, "Kustomization", "own"), objects)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string][]string{"ServiceAccount": {"imagePullSecrets"}, "Deployment": {"spec", "template", "spec",
		"imagePullSecrets"},
		"CronJob": {"spec", "jobTemplate", "spec", "template", "spec", "imagePullSecrets"}}
	for _, object := range applied {
		list, _, err := unstructured.NestedSlice(object.Object, places[object.GetKind()]...)
		if err != nil {
			t.Fatal(err)
		}
		names := map[any]bool{}
		for _, entry := range list {
			names[entry.(map[string]any)["name"]] = true
		}
		want := map[any]bool{"telco-cloud-init-registry": true, "its-own": true}
		if object.GetKind() == "ServiceAccount" { // kustomize replaces its list, see values.yaml
			delete(want, "its-own")
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", object.GetKind(), diff)
		}
		delete(places, object.GetKind())
	}
	if len(places) > 0 {
		t.Errorf("not applied: %v", places)
	}
}

// The engine's socket makes whoever has it root on the host: it is only where the provider runs that needs it.
func TestDockerSocketIsOnlyWhereItIsNeeded(t *testing.T) {
	for name, test := range map[string]struct {
		sets      []string
		bootstrap string
	}{
		"kubeadm-capd": {bootstrap: "/var/run/docker.sock"},
		"rke2-capd":    {bootstrap: "/var/run/docker.sock"},
		"kubeadm-capo": {},
		"rke2-capo":    {},
		"kubeadm-capa": {},
		"kubeadm-capo for other clusters": {sets: []string{"components.capd.enabled=true",
			"cluster.docker_socket=/run/own.sock"}, bootstrap: "/run/own.sock"},
	} {
		t.Run(name, func(t *testing.T) {
			environmentName, _, _ := strings.Cut(name, " ")
			env := load(t, environment.Options{Name: environmentName, Sets: test.sets,
				Variables: variables(allVariables())})
			socket, err := env.BootstrapDockerSocket()
			if err != nil || socket != test.bootstrap {
				t.Errorf("the bootstrap cluster's node has %q (%v), want %q", socket, err, test.bootstrap)
			}
			for _, object := range applied(t, env, "cluster") {
				mounted := strings.Contains(fmt.Sprint(object.Object), "/var/run/docker.sock")
				isControlPlane := strings.HasSuffix(environmentName, "-capd") &&
					object.GetKind() == "DevMachineTemplate" && strings.Contains(object.GetName(), "-control-plane-")
				if mounted != isControlPlane {
					t.Errorf("%s %s: the socket is mounted: %t", object.GetKind(), object.GetName(), mounted)
				}
			}
		})
	}
}

const ownCA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

// A private CA reaches machines before they pull anything, whatever makes nodes of them; without one their templates
// keep their names.
func TestPrivateCAsOfMachines(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "rke2-capd", "kubeadm-capo", "rke2-capo", "kubeadm-capa"} {
		t.Run(name, func(t *testing.T) {
			sets := []string{"cluster.trusted_cas=" + ownCA, "cluster.worker.replicas=1"}
			if strings.HasPrefix(name, "kubeadm") {
				sets = append(sets, "cluster.registry_mirrors[0].host=docker.io",
					"cluster.registry_mirrors[0].url=https://m", "cluster.registry_mirrors[0].ca="+ownCA)
			}
			env := load(t, environment.Options{Name: name, Sets: sets, Variables: variables(allVariables())})
			seen := 0
			for _, object := range applied(t, env, "cluster") {
				text := fmt.Sprint(object.Object)
				switch object.GetKind() {
				case "KubeadmControlPlane", "KubeadmConfigTemplate", "RKE2ControlPlane", "RKE2ConfigTemplate":
					seen++
				default:
					continue
				}
				if name == "rke2-capd" && !strings.Contains(text, "preRKE2Commands:[mkdir -p /run/cluster-api ") {
					t.Errorf("%s: the provider's own command does not come first", object.GetKind())
				}
				for _, want := range []string{"/etc/cluster-init.io/trusted-cas.pem", "update-ca-certificates",
					"MIIB"} {
					if !strings.Contains(text, want) {
						t.Errorf("%s: no %s", object.GetKind(), want)
					}
				}
				if strings.HasPrefix(name, "kubeadm") &&
					!strings.Contains(text, `ca = "/etc/containerd/certs.d/docker.io/ca.pem"`) {
					t.Errorf("%s: the mirror's CA is not named", object.GetKind())
				}
			}
			if seen != 2 {
				t.Errorf("%d definitions of machines", seen)
			}
		})
	}
}

// Helm gives `global` to a chart that is part of another.
func TestGlobalValuesAreTaken(t *testing.T) {
	load(t, environment.Options{Sets: []string{"global.team=core"}})
}
