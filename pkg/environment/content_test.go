package environment_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// release stands for any release manifest: the kinds that our kustomizations and patches aim at.
const release = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.example.com, labels: {kept: "yes"}}
spec: {group: example.com, names: {kind: X, plural: %[1]s}, scope: Namespaced}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: %[1]s-sa, namespace: n}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: n}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
        - name: %[3]s
          image: i
          env: [{name: KEPT, value: '${CAPD_DOCKER_HOST:=""}'}]
`

// credentials are what the provider for AWS brings besides.
const credentials = `
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: n}
data: {credentials: '${AWS_B64ENCODED_CREDENTIALS}'}
`

// remote matches what a remote resource must be: https, and of one version.
var remote = regexp.MustCompile(`^https://(github\.com/.+/releases/download|raw\.githubusercontent\.com/[^/]+/[^/]+)/v[0-9]+\.[0-9]+\.[0-9]+/.+\.yaml$`)

// components copies kustomize-components to memory, with files in place of remote resources.
func components(t *testing.T) (files filesys.FileSystem, folders []string) {
	t.Helper()
	files = filesys.MakeFsInMemory()
	err := fs.WalkDir(clusterinit.Content(), "kustomize-components", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(clusterinit.Content(), name)
		if err != nil || path.Base(name) != "kustomization.yaml" {
			return errOr(err, files.WriteFile("/"+name, data))
		}
		folders = append(folders, "/"+path.Dir(name))
		var kustomization map[string]any
		if err := yaml.Unmarshal(data, &kustomization); err != nil {
			return err
		}
		resources := kustomization["resources"].([]any)
		for i, resource := range resources {
			address, err := url.Parse(resource.(string))
			if err != nil || address.Scheme == "" {
				continue
			}
			if !remote.MatchString(resource.(string)) {
				t.Errorf("%s: %s is not the address of a pinned release", name, resource)
			}
			deployment, container := "controller-manager", "manager"
			if strings.Contains(name, "cert-manager") {
				deployment, container = "cert-manager", "cert-manager-controller"
			}
			id := regexp.MustCompile(`[^a-z]+`).ReplaceAllString(path.Base(address.Path), "")
			resources[i] = fmt.Sprintf("remote-%d.yaml", i)
			text := fmt.Sprintf(release, id, id+"-"+deployment, container)
			if container != "manager" {
				text = fmt.Sprintf(release, id, deployment, container)
			}
			if strings.HasPrefix(name, "kustomize-components/capa/") {
				text += credentials
			}
			if err := files.WriteFile(path.Join("/", path.Dir(name), resources[i].(string)), []byte(text)); err != nil {
				return err
			}
		}
		data, err = yaml.Marshal(kustomization)
		return errOr(err, files.WriteFile("/"+name, data))
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, folders
}

func errOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func TestEveryComponentBuilds(t *testing.T) {
	files, folders := components(t)
	if len(folders) < 9 {
		t.Fatalf("only %d components found: %s", len(folders), folders)
	}
	for _, folder := range folders {
		t.Run(strings.TrimPrefix(folder, "/kustomize-components/"), func(t *testing.T) {
			resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
			if err != nil {
				t.Fatal(err)
			}
			if resources.Size() == 0 {
				t.Fatal("nothing is rendered")
			}
		})
	}
}

func TestProvidersCarryTheLabelThatMoveLooksFor(t *testing.T) {
	files, _ := components(t)
	for folder, providers := range map[string][]string{
		"capi": {"cluster-api"}, "cabpk": {"bootstrap-kubeadm", "control-plane-kubeadm"}, "capd": {"infrastructure-docker"},
		"cabpr": {"bootstrap-rke2", "control-plane-rke2"},
	} {
		resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/kustomize-components/"+folder)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, resource := range resources.Resources() {
			if resource.GetKind() != "CustomResourceDefinition" {
				continue
			}
			labels := resource.GetLabels()
			if _, ok := labels["clusterctl.cluster.x-k8s.io"]; !ok || labels["kept"] != "yes" {
				t.Errorf("%s: CRD %s has labels %v", folder, resource.GetName(), labels)
			}
			seen[labels["cluster.x-k8s.io/provider"]] = true
		}
		for _, provider := range providers {
			if !seen[provider] {
				t.Errorf("%s: no CRD of provider %s, only of %v", folder, provider, seen)
			}
		}
	}
}

// checkTypes asks the types of Cluster API itself whether every field is one, and of its type.
func checkTypes(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		typed := map[string]any{"Cluster": &clusterv1.Cluster{}, "MachineDeployment": &clusterv1.MachineDeployment{},
			"KubeadmControlPlane": &controlplanev1.KubeadmControlPlane{}, "KubeadmConfigTemplate": &bootstrapv1.KubeadmConfigTemplate{}}[object.GetKind()]
		if typed == nil {
			continue
		}
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, typed); err != nil {
			t.Errorf("%s: %v", object.GetKind(), err)
		}
	}
}

const proxied = `
proxies: {http_proxy: "http://proxy:3128", https_proxy: "http://proxy:3128", no_proxy: ""}
registry_secret: {registry.example.com: {username: robot, password: s3cret}}
cluster:
  registry_mirrors: [{host: registry.k8s.io, url: "http://mirror:5000/v2/registry.k8s.io", override_path: true}]
`

func TestClusterDefinition(t *testing.T) {
	more := []string{"cluster.worker.replicas=2", "cluster.control_plane.replicas=3", "cluster.control_plane.schedulable=false",
		"cluster.registry_mirrors[0].host=registry.k8s.io", "cluster.registry_mirrors[0].url=http://mirror:5000/v2/registry.k8s.io",
		"cluster.registry_mirrors[0].override_path=true", "proxies.http_proxy=http://proxy:3128"}
	cases := map[string]environment.Options{
		"kubeadm-capd.plain":    {},
		"kubeadm-capd.workers":  {Sets: more},
		"kubeadm-capd.ignition": {Sets: append([]string{"cluster.bootstrap_format=ignition"}, more...)},
		"rke2-capd.plain":       {Name: "rke2-capd"},
		"rke2-capd.workers":     {Name: "rke2-capd", Sets: more},
		"rke2-capd.air-gapped": {Name: "rke2-capd", Sets: []string{"cluster.rke2.air_gapped=true", "cluster.rke2.image=mine:v1",
			"cluster.rke2.air_gapped_checksum=" + strings.Repeat("0f", 32), "cni=custom"}},
	}
	for name, options := range cases {
		t.Run(name, func(t *testing.T) {
			objects := applied(t, load(t, options), "cluster")
			golden.Check(t, filepath.Join("cluster", name+".yaml"), toYAML(t, objects))
			checkTypes(t, objects)
		})
	}
}

func TestProxiesAndPullSecretsReachControllers(t *testing.T) {
	own := folder(t, map[string]string{"kustomization.yaml": strings.ReplaceAll(onBase, "../base", "../kubeadm-capd"),
		"values.yaml": "cluster: {name: x}\ncomponents: {capd: {enabled: true}, cabpr: {enabled: true}, cluster: {enabled: true}}\n", "more.yaml": proxied})
	env := load(t, environment.Options{Name: own, ValuesFiles: []string{filepath.Join(own, "more.yaml")}})
	for _, component := range []string{"cert-manager", "capi", "cabpk", "cabpr", "capd"} {
		accounts, deployments := 0, 0
		for _, object := range applied(t, env, component) {
			switch object.GetKind() {
			case "ServiceAccount":
				accounts++
				if secrets, _, _ := unstructured.NestedSlice(object.Object, "imagePullSecrets"); len(secrets) != 1 {
					t.Errorf("%s: service account without pull secret", component)
				}
			case "Deployment":
				deployments++
				containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
				if len(containers) != 1 {
					t.Fatalf("%s: the patch added a container: %v", component, containers)
				}
				values := map[string]string{}
				env, _, _ := unstructured.NestedSlice(containers[0].(map[string]any), "env")
				for _, variable := range env {
					values[variable.(map[string]any)["name"].(string)], _ = variable.(map[string]any)["value"].(string)
				}
				if values["HTTPS_PROXY"] != "http://proxy:3128" || !strings.Contains(values["NO_PROXY"], "10.96.0.0/16") {
					t.Errorf("%s: variables %v", component, values)
				}
				if _, kept := values["KEPT"]; !kept {
					t.Errorf("%s: the container lost its own variables", component)
				}
				if secrets, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "imagePullSecrets"); len(secrets) != 1 {
					t.Errorf("%s: pod without pull secret", component)
				}
			}
		}
		if accounts == 0 || deployments == 0 {
			t.Errorf("%s: nothing to patch was found", component)
		}
	}
}

// Flux fills variables into what the chart's patches hold as well: a password with dollar signs must reach machines as it is.
func TestDollarSignsOfProxiesStay(t *testing.T) {
	const address = "http://u:a$$b$c$(d)$e@proxy:3128" // braces are none that an address may have
	for _, name := range []string{"kubeadm-capd", "rke2-capd"} {
		env := load(t, environment.Options{Name: name, Sets: []string{"proxies.https_proxy=" + address}})
		for _, component := range []string{"cluster", "capi"} {
			text, err := yaml.Marshal(applied(t, env, component))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), address) {
				t.Errorf("%s: the proxy of component %s is another one", name, component)
			}
		}
	}
}
