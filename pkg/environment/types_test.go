package environment_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

// scenario is an environment with values that bring all that it can hold into force.
type scenario struct {
	name   string
	values string   // over those of all scenarios
	absent []string // sources that another one wins over, or that do not go together with another one
}

// everywhere are values of all scenarios.
const everywhere = `
cluster:
  backup: {volume: {nfs: {server: nfs.example.org, path: /backups}}}
  worker: {replicas: 1, taints: [{effect: NoExecute}]}
  workers: {gpu: {replicas: 1, taints: [{effect: NoSchedule}]}}
  aws: {image_lookup_base_os: flatcar}
  kubernetes: {audit_policy: {rules: [{level: Metadata}]}, admission: {pod_security: {enforce: baseline}}}
  openstack:
    root_volume: {size: 9}
    server_groups: {control_plane: anti-affinity, worker: affinity}
components:
  backup: {enabled: true}
  own: {enabled: true, repo: own}
  two: {enabled: true, repo: own}
  three: {enabled: true, repo: group}
`

func scenarios() []scenario {
	const at, keepalived = "cluster.openstack.", "cluster.openstack.api_server.keepalived_image"
	own := "git_repo_templates.own.auth."
	return []scenario{
		{"kubeadm-capd", "cluster: {openstack: {api_server: {mode: octavia}}}",
			[]string{at + "api_server.fixed_ip", at + "api_server.managed_floating_ip", keepalived, "cluster.docker_host",
				"cluster.machines.users",
				"cluster.machines.ntp", own + "secret", "git_auth_default.secret",
				"cluster.worker.flavor", "cluster.workers.gpu.flavor"}},
		{"rke2-capd", "cluster: {kubernetes_version: v1.36.4+rke2r1}",
			[]string{at + "api_server.fixed_ip", at + "api_server.allowed_cidrs", keepalived, "cluster.docker_socket",
				"cluster.machines.users", "cluster.machines.ntp", "cluster.kubernetes.encryption_at_rest",
				own + "username", own + "password", "cluster.worker.flavor", "cluster.workers.gpu.flavor"}},
		{"kubeadm-capo", "components: {cinder-csi: {enabled: true}}",
			[]string{at + "network", at + "subnet", at + "router", at + "api_server.fixed_ip",
				at + "api_server.allowed_cidrs", keepalived, "cluster.worker.flavor"}},
		{"kubeadm-capo", "cluster: {openstack: {api_server: {mode: vip}}}",
			[]string{at + "dns_nameservers", at + "api_server.floating_ip", at + "api_server.managed_floating_ip",
				at + "api_server.allowed_cidrs"}},
		{"rke2-capo", "{cluster: {kubernetes_version: v1.36.4+rke2r1, openstack: {api_server: {mode: fixed-ip}}}, " +
			"components: {cinder-csi: {enabled: true}}}",
			[]string{at + "dns_nameservers", at + "api_server.floating_ip", at + "api_server.managed_floating_ip",
				at + "api_server.allowed_cidrs", keepalived,
				"cluster.machines.users", "cluster.kubernetes.encryption_at_rest"}},
		{"kubeadm-capa", "cluster: {bootstrap_format: ignition}",
			[]string{at + "api_server.fixed_ip", at + "api_server.allowed_cidrs", keepalived, "cluster.image",
				"cluster.worker.flavor", "cluster.workers.gpu.flavor"}},
	}
}

// given are the values of a scenario, each source with a text of its own that text returns. A nil text leaves the
// ordinary value.
type given struct {
	values map[string]any
	// replace turns what is made of ordinary values into what must be made of these.
	replace []string
}

func (s scenario) given(t *testing.T, sources []source, text func(i int) *string) given {
	t.Helper()
	values := map[string]any{}
	for _, layer := range []string{everywhere, s.values} {
		var over map[string]any
		if err := yaml.Unmarshal([]byte(layer), &over); err != nil {
			t.Fatal(err)
		}
		values = mergeMaps(values, over)
	}
	var whole, words []string
	for i, source := range sources {
		name := source.name()
		if slices.ContainsFunc(s.absent, func(a string) bool { return matches(a+"*", name) }) {
			continue
		}
		value := source.ordinary()
		if name == "cluster.kubernetes_version" && strings.HasPrefix(s.name, "rke2") {
			continue
		}
		if hostile := text(i); hostile != nil {
			if holding, inForm, fits := source.holding(*hostile); fits {
				whole = append(whole, value, holding)
				if inForm {
					words = append(words, source.word, *hostile)
				}
				value = holding
			}
		}
		if name == "cluster.openstack.cloud_name" { // clouds.yaml must have an entry of that name
			before, after := cloudsFile(t, source.ordinary()), cloudsFile(t, value)
			whole = append(whole, before, after)
			put(values, []string{"cluster", "openstack", "clouds_yaml_b64"}, after)
		}
		if name != "cluster.openstack.clouds_yaml_b64" {
			put(values, source.path, value)
		}
	}
	return given{values, append(whole, words...)}
}

// cloudsFile is a clouds.yaml with one entry, in base64.
func cloudsFile(t *testing.T, cloud string) string {
	t.Helper()
	file,
		err := json.Marshal(
		map[string]any{"clouds": map[string]any{cloud: map[string]any{"auth": map[string]any{"auth_url": "https://cloud.example.org"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return encoded(string(file))
}

// leaf is one value in what is rendered.
type leaf struct {
	kind string // its type
	text string
}

// encodedPath matches paths of texts in base64.
var encodedPath = regexp.MustCompile(`/(cloud\.conf|\.dockerconfigjson|auth|(HTTP|HTTPS|NO)_PROXY)$`)

// leaves are all values in objects, by the place of the object and the path in it. What is encoded in Secrets is taken
// apart.
func leaves(objects []*unstructured.Unstructured) map[string]leaf {
	found := map[string]leaf{}
	var visit func(path string, value any)
	visit = func(path string, value any) {
		switch typed := value.(type) {
		case map[string]any:
			found[path] = leaf{kind: "map"}
			if content, is := typed["content"].(string); is && typed["encoding"] == "base64" { // a file of a machine
				if decoded, err := base64.StdEncoding.DecodeString(content); err == nil {
					typed = maps.Clone(typed)
					typed["content"] = string(decoded)
					var object map[string]any // JSON escapes text
					file, _ := typed["path"].(string)
					if strings.HasSuffix(file, ".json") && json.Unmarshal(decoded, &object) == nil {
						typed["content"] = object
					}
				}
			}
			for key, nested := range typed {
				visit(path+"/"+key, nested)
			}
		case []any:
			found[path] = leaf{kind: "list"}
			for i, nested := range typed {
				visit(path+"/"+strconv.Itoa(i), nested)
			}
		case string:
			found[path] = leaf{"string", typed}
			if encodedPath.MatchString(path) {
				decoded, err := base64.StdEncoding.DecodeString(typed)
				var object map[string]any
				if json.Unmarshal(decoded, &object) == nil {
					delete(found, path)
					visit(path, object)
				} else if err == nil {
					found[path] = leaf{"string", string(decoded)}
				}
			}
		default:
			found[path] = leaf{fmt.Sprintf("%T", value), fmt.Sprint(value)}
		}
	}
	for i, object := range objects {
		visit(fmt.Sprintf("%d %s", i, object.GetKind()), object.Object)
	}
	return found
}

// hash is at the end of names of machine templates, which change with what is in them.
var hash = regexp.MustCompile(`-[0-9a-f]{8}\b`)

// compare returns what is of another type, or holds another text, than the ordinary values have where these ones are.
func compare(then map[string]leaf, got []*unstructured.Unstructured, replace []string) (problems []string) {
	replacer := strings.NewReplacer(replace...)
	now := leaves(got)
	for _, path := range slices.Sorted(maps.Keys(then)) {
		before := then[path]
		path = replacer.Replace(path) // the keys of some maps are values
		after, there := now[path]
		delete(now, path)
		want := replacer.Replace(before.text)
		switch {
		case !there:
			problems = append(problems, fmt.Sprintf("%s is gone, which is %q with ordinary values", path, before.text))
		case after.kind != before.kind:
			problems = append(problems, fmt.Sprintf("%s is a %s, %s; with ordinary values it is a %s, %q", path,
				after.kind, after.text, before.kind, before.text))
		case strings.HasSuffix(path, "/cluster-init.io/credentials"),
			strings.HasSuffix(path, "/cluster-init.io/proxies"):
			// hashes
		case hash.ReplaceAllString(after.text, "") != hash.ReplaceAllString(want, ""):
			problems = append(problems, fmt.Sprintf("%s is %q, want %q", path, after.text, want))
		}
	}
	for path, after := range now {
		problems = append(problems, fmt.Sprintf("%s is new: a %s, %q", path, after.kind, after.text))
	}
	return problems
}

// alike are Kustomizations that the chart makes as it makes those of the component capd.
var alike = regexp.MustCompile("^(cert-manager|capi|cabpk|cabpr|capo|orc)$|^[^o].*-(pull-secret|proxies)-")

// render returns what Flux applies in both clusters, by phase and Kustomization, and what the chart itself renders.
func (s scenario) render(t *testing.T, env *environment.Environment, f *flux.Kustomizer, values map[string]any) (
	map[string][]*unstructured.Unstructured, error) {
	t.Helper()
	all := map[string][]*unstructured.Unstructured{}
	for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
		rendered, err := env.Render(phase, values)
		if err != nil {
			return nil, fmt.Errorf("phase %s: %w", phase, err)
		}
		for i, object := range rendered {
			path, _, _ := unstructured.NestedString(object.Object, "spec", "path")
			if object.GetKind() == "Kustomization" && strings.HasPrefix(path, "./kustomize-components/") &&
				!alike.MatchString(object.GetName()) {
				objects, err := f.Apply(t.Context(), object, rendered)
				if err != nil {
					return nil, fmt.Errorf("phase %s: Kustomization %s: %w", phase, object.GetName(), err)
				}
				all[fmt.Sprintf("%s, Kustomization %d", phase, i)] = objects
			}
		}
		all[string(phase)+", the chart"] = withoutText(t, rendered)
	}
	return all, nil
}

// forMachines matches Secrets with files of machines: the proxies, and the keys for Secrets. Flux fills in nothing.
var forMachines = regexp.MustCompile(`^telco-cloud-init-machine-(proxies$|encryption-)`)

// withoutText is what the chart renders without what is text for Flux to fill in, which is seen where it is filled in.
func withoutText(t *testing.T, rendered []*unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, object := range rendered {
		object = object.DeepCopy()
		variables, _, err := unstructured.NestedMap(object.Object, "spec", "postBuild", "substitute")
		for name, value := range variables {
			if _, text := value.(string); !text || err != nil {
				t.Errorf("%s: variable %s is a %T", object.GetName(), name, value)
			}
		}
		unstructured.RemoveNestedField(object.Object, "spec", "postBuild")
		unstructured.RemoveNestedField(object.Object, "spec", "patches")
		name := object.GetName()
		if object.GetKind() == "Secret" && strings.HasPrefix(name, "telco-cloud-init-") &&
			!forMachines.MatchString(name) {
			unstructured.RemoveNestedField(object.Object, "stringData")
		}
		out = append(out, object)
	}
	return out
}

// isIn reports whether any value in what is rendered holds a word.
func isIn(word string, rendered map[string]map[string]leaf) bool {
	for _, leaves := range rendered {
		for path, leaf := range leaves {
			if strings.Contains(path+leaf.text, word) {
				return true
			}
		}
	}
	return false
}

// Whatever text a value holds: where it ends it is text, and the same.
func TestAnyTextStaysText(t *testing.T) {
	all := sources(t)
	random := rand.New(rand.NewPCG(1, 2))
	texts := append(slices.Clone(hostile), randomText(random))
	landed := map[string]bool{}
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			f := newKustomizer(t)
			env := load(t, environment.Options{Name: s.name, Variables: variables(allVariables())})
			ordinaries, err := s.render(t, env, f, s.given(t, all, func(int) *string { return nil }).values)
			if err != nil {
				t.Fatal(err)
			}
			ordinary := map[string]map[string]leaf{}
			for part, objects := range ordinaries {
				ordinary[part] = leaves(objects)
			}
			for _, source := range all {
				landed[source.name()] = landed[source.name()] || isIn(source.word, ordinary)
			}
			for round := range texts {
				given := s.given(t, all, func(i int) *string { return &texts[(round+i)%len(texts)] })
				got, err := s.render(t, env, f, given.values)
				if err != nil {
					t.Errorf("round %d: %v", round, err)
					continue
				}
				for part, leaves := range ordinary {
					// one brings others about
					if problems := compare(leaves, got[part], given.replace); len(problems) > 0 {
						t.Errorf("round %d: %s: %d problems, first %s", round, part, len(problems), problems[0])
					}
				}
			}
		})
	}
	for _, source := range all {
		// The key of fingerprints only changes hashes.
		if !landed[source.name()] && source.free() && source.name() != "secret_fingerprint_key" {
			t.Errorf("nothing is made of %s: no scenario has it in force", source.name())
		}
	}
}
