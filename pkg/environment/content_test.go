package environment_test

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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
	"github.com/cluster-init/cluster-init/pkg/fault"
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

// vSphereCredentials are what the provider for vSphere brings besides: variables without a default.
const vSphereCredentials = `
---
apiVersion: v1
kind: Secret
metadata: {name: capv-manager-bootstrap-credentials, namespace: n}
stringData: {credentials.yaml: "username: '${VSPHERE_USERNAME}'\npassword: '${VSPHERE_PASSWORD}'"}
`

// remote matches what a remote resource must be: https, and of one version.
var remote = regexp.MustCompile(
	`^https://(github\.com/.+/releases/download|raw\.githubusercontent\.com/[^/]+/[^/]+)/v[0-9]+\.[0-9]+\.[0-9]+/.+\.yaml$`)

// components copies kustomize-components to memory, with files in place of remote resources.
func components(t *testing.T) (files filesys.FileSystem, folders []string) {
	t.Helper()
	files = filesys.MakeFsInMemory()
	err := fs.WalkDir(clusterinit.Content(), "kustomize-components",
		func(name string, entry fs.DirEntry, err error) error {
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
				if strings.HasPrefix(name, "kustomize-components/capv/") {
					text += vSphereCredentials
				}
				if err := files.WriteFile(path.Join("/", path.Dir(name), resources[i].(string)),
					[]byte(text)); err != nil {
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
		"capi": {"cluster-api"}, "cabpk": {"bootstrap-kubeadm", "control-plane-kubeadm"},
		"capd":  {"infrastructure-docker"},
		"cabpr": {"bootstrap-rke2", "control-plane-rke2"},
		"capv":  {"infrastructure-vsphere"}, "capm3": {"infrastructure-metal3", "ipam-metal3"},
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
			"KubeadmControlPlane":   &controlplanev1.KubeadmControlPlane{},
			"KubeadmConfigTemplate": &bootstrapv1.KubeadmConfigTemplate{}}[object.GetKind()]
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
	more := []string{"cluster.worker.replicas=2", "cluster.control_plane.replicas=3",
		"cluster.control_plane.schedulable=false",
		"cluster.registry_mirrors[0].host=registry.k8s.io",
		"cluster.registry_mirrors[0].url=http://mirror:5000/v2/registry.k8s.io",
		"cluster.registry_mirrors[0].override_path=true", "proxies.http_proxy=http://proxy:3128"}
	cases := map[string]environment.Options{
		"kubeadm-capd.plain":    {},
		"kubeadm-capd.workers":  {Sets: more},
		"kubeadm-capd.ignition": {Sets: append([]string{"cluster.bootstrap_format=ignition"}, more...)},
		"rke2-capd.plain":       {Name: "rke2-capd"},
		"rke2-capd.workers":     {Name: "rke2-capd", Sets: more},
		"rke2-capd.air-gapped": {Name: "rke2-capd", Sets: []string{"cluster.rke2.air_gapped=true",
			"cluster.rke2.image=mine:v1",
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
		"values.yaml": "cluster: {name: x}\ncomponents: {capd: {enabled: true}, cabpr: {enabled: true}, cluster: " +
			"{enabled: true}}\n", "more.yaml": proxied})
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
					from, _, _ := unstructured.NestedString(variable.(map[string]any), "valueFrom", "secretKeyRef",
						"name")
					values[variable.(map[string]any)["name"].(string)] = from
				}
				want := "telco-cloud-init-proxies"
				if component == "capd" { // it would hand them on to machines, in clear
					want = ""
				}
				if values["HTTPS_PROXY"] != want || values["NO_PROXY"] != want {
					t.Errorf("%s: variables %v", component, values)
				}
				if _, kept := values["KEPT"]; !kept {
					t.Errorf("%s: the container lost its own variables", component)
				}
				if secrets, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec",
					"imagePullSecrets"); len(secrets) != 1 {
					t.Errorf("%s: pod without pull secret", component)
				}
			}
		}
		if accounts == 0 || deployments == 0 {
			t.Errorf("%s: nothing to patch was found", component)
		}
	}
}

// A password of a proxy is in Secrets only, as it is: Flux fills variables into what it is given, too.
func TestPasswordsOfProxiesAreInSecretsOnly(t *testing.T) {
	const password = "a$$b$c$(d)$e" // braces are none that an address may have
	address := "http://u:" + password + "@proxy:3128"
	for _, name := range []string{"kubeadm-capd", "rke2-capd"} {
		env := load(t, environment.Options{Name: name, Sets: []string{"proxies.https_proxy=" + address}})
		controllers := find(t, applied(t, env, "capi-proxies-capi-system"), "Secret", "telco-cloud-init-proxies")
		encoded, _, _ := unstructured.NestedString(controllers.Object, "data", "HTTPS_PROXY")
		if got, err := base64.StdEncoding.DecodeString(encoded); string(got) != address || err != nil {
			t.Errorf("%s: the proxy of controllers is %q (%v)", name, got, err)
		}
		all := rendered(t, env)
		secret := find(t, all, "Secret", "telco-cloud-init-machine-proxies")
		files, _, _ := unstructured.NestedStringMap(secret.Object, "stringData")
		if len(files) == 0 {
			t.Errorf("%s: machines have no proxy", name)
		}
		for file, text := range files {
			if !strings.Contains(strings.ReplaceAll(text, "%%", "%"), address) {
				t.Errorf("%s: %s has another proxy: %s", name, file, text)
			}
		}
		for _, component := range []string{"cluster", "capi", "cert-manager"} {
			all = append(all, applied(t, env, component)...)
		}
		for _, object := range all {
			if text := fmt.Sprint(object.Object); object.GetKind() != "Secret" && strings.Contains(text, password[:2]) {
				t.Errorf("%s: %s %s has the password", name, object.GetKind(), object.GetName())
			}
		}
	}
}

// Other proxies are other machines and other pods, and another password is that too where its fingerprint has a key.
func TestOtherProxiesAreOtherMachinesAndPods(t *testing.T) {
	names := func(proxy, key string) (machine, pod string) {
		env := load(t, environment.Options{Name: "kubeadm-capd", Sets: []string{"proxies.http_proxy=" + proxy,
			"secret_fingerprint_key=" + key}})
		for _, object := range applied(t, env, "cluster") {
			if object.GetKind() == "DevMachineTemplate" {
				machine = object.GetName()
			}
		}
		for _, object := range applied(t, env, "capi") {
			if object.GetKind() == "Deployment" {
				pod, _, _ = unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations",
					"cluster-init.io/proxies")
			}
		}
		return machine, pod
	}
	machine, pod := names("http://u:one@p:1", "a")
	for proxy, key := range map[string]string{"http://u:one@q:1": "a", "http://u:two@p:1": "a", "http://u:one@p:1": "b",
		"http://p:1": "a"} {
		if otherMachine, otherPod := names(proxy, key); otherMachine == machine || otherPod == pod {
			t.Errorf("%s with key %s: %s and %s as before", proxy, key, otherMachine, otherPod)
		}
	}
	one, onePod := names("http://u:one@p:1", "")
	if two, twoPod := names("http://u:two@p:1", ""); one != two || onePod != twoPod {
		t.Error("without a key a hash depends on the password: guesses can be tried on it")
	}
	keyed, _ := names("http://p:1", "a")
	if unkeyed, _ := names("http://p:1", ""); keyed != unkeyed {
		t.Error("where there is no password, the key replaces machines")
	}
}

// Without the namespace of a Deployment it could not read its proxies.
func TestProxiesNeedTheNamespacesOfAComponent(t *testing.T) {
	sets := []string{"components.own.enabled=true", "components.own.path=./own",
		"components.own.controllers[0].deployment=a",
		"components.own.controllers[0].container=b"}
	load(t, environment.Options{Name: "kubeadm-capd", Sets: sets})
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: append(sets, "proxies.http_proxy=http://p:1")})
	if fault.CodeOf(err) != fault.ValuesInvalid ||
		!strings.Contains(err.Error(), "components.own.namespaces is empty") {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
	load(t, environment.Options{Name: "kubeadm-capd", Sets: append(sets, "proxies.http_proxy=http://p:1",
		"components.own.namespaces={x}")})
}

// Two objects of one name would be refused by Helm, later, or one would be applied in place of the other.
func TestObjectsHaveNamesOfTheirOwn(t *testing.T) {
	part := func(name string, more ...string) []string {
		sets := []string{"components." + name + ".enabled=true", "components." + name + ".path=./x"}
		for _, set := range more {
			sets = append(sets, "components."+name+"."+set)
		}
		return sets
	}
	proxied := func(name, namespaces string) []string {
		return part(name, "controllers[0].deployment=a", "controllers[0].container=b", "namespaces={"+namespaces+"}")
	}
	for name, tc := range map[string]struct {
		sets [][]string
		want string // in the error; empty: none
	}{
		"a component called as a Secret's Kustomization": {[][]string{proxied("a", "b"), part("a-proxies-b")},
			"a-proxies-b"},
		"two Secrets": {[][]string{proxied("a", "proxies-b"), proxied("a-proxies", "b")},
			"a-proxies-proxies-b"},
		"a namespace twice":       {[][]string{proxied("a", "x,x")}, ""},
		"Flux' namespace":         {[][]string{proxied("a", "flux-system")}, ""},
		"names that look similar": {[][]string{proxied("a", "b"), part("proxies"), part("pull-secret")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(),
				Sets:    append(slices.Concat(tc.sets...), "proxies.http_proxy=http://p:1")})
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" && (fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
		})
	}
}
