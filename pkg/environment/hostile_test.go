package environment_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
)

// hostile are texts that YAML, a template or Flux misreads if they are not quoted or escaped.
var hostile = []string{
	"040631e0", "0x1f", "null", "yes", "~", "2026-01-02", "012345678901", "1.10", `"key": 'value' # comment`,
	"# two\nlines: true\n",
	"$${NAME} $ $$ ${CLUSTER_NAME} {{ .Release.Name }}", "- [a, *b, &c !d", "\u2028\t é😀\\n ",
}

// randomText returns a text that is made of what means something to YAML, a template or Flux.
func randomText(random *rand.Rand) string {
	const parts = "a|0|1|e|:| |#|'|\"|\n|$|{|}|[|]|,|-|~|\\|%|@|`|*|&|!|>|?|=|.|_|${X}|é|\t"
	all := append(strings.Split(parts, "|"), "|")
	text := "x" // never empty, which is a value of its own
	for range 1 + random.IntN(12) {
		text += all[random.IntN(len(all))]
	}
	if random.IntN(2) == 0 {
		text = text[1:] + "x"
	}
	return text
}

// source is a value of the chart that is text, and that anything may be in which its form allows.
type source struct {
	path    []string
	form    string         // %s stands for any text; without it, the form leaves no room for one
	pattern *regexp.Regexp // of the schema
	most    int            // characters; 0: any number
	word    string         // what stands for %s in an ordinary value; no other source has it
}

func (s source) name() string     { return strings.Join(s.path, ".") }
func (s source) ordinary() string { return strings.ReplaceAll(s.form, "%s", s.word) }
func (s source) free() bool       { return strings.Contains(s.form, "%s") }

// holding returns a value that the source may have, and that is the text or holds it. inForm: it holds it where an
// ordinary value holds its word.
func (s source) holding(text string) (value string, inForm, fits bool) {
	if !s.free() {
		return "", false, false
	}
	for _, form := range []string{"%s", s.form} {
		value := strings.ReplaceAll(form, "%s", text)
		if s.fits(value) {
			return value, form == s.form, true
		}
	}
	return "", false, false
}

func (s source) fits(value string) bool {
	if s.most > 0 && len([]rune(value)) > s.most || s.pattern != nil && !s.pattern.MatchString(value) {
		return false
	}
	check := also[s.name()]
	return check == nil || check(value)
}

var base64Text = regexp.MustCompile(`^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`).MatchString

// also is what the chart, or the environment, asks of a value beyond the schema.
var also = map[string]func(string) bool{
	"cluster.name": func(value string) bool {
		return !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, value)
	},
	"cluster.aws.credentials": base64Text,
	"cluster.backup.image": func(value string) bool {
		_, tag, tagged := strings.Cut(value, ":")
		return tagged && regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`).MatchString(tag)
	},
	"proxies.no_proxy":          regexp.MustCompile(`^[A-Za-z0-9_.-]*$`).MatchString,
	"git_auth_default.username": userName, "git_repo_templates.own.auth.username": userName,
	"registry_secret.registry.example.org.username": userName,
	"git_auth_default.password":                     token, "git_repo_templates.own.auth.password": oneLine,
	"registry_secret.registry.example.org.password": oneLine,
	"git_repo_templates.own.url":                    gitPath, "git_repo_templates.group.base_url": gitPath,
}

var (
	oneLine  = regexp.MustCompile(`^[^\x00-\x1f\x7f]*$`).MatchString
	userName = regexp.MustCompile(`^[^\x00-\x20\x7f:\x{85}\x{a0}\x{2028}]*$`).MatchString
	token    = regexp.MustCompile(`^[^\x00-\x20\x7f\x{85}\x{a0}\x{2028}]*$`).MatchString
	gitPath  = regexp.MustCompile(`^https://git\.example\.org/[^?#\\\s]*[^?#\\\s/]$`).MatchString
)

// forms are the values that must have one. Those without %s have one that leaves no room for anything else, or are made
// by hand.
var forms = map[string]string{
	"flux.interval": "10m", "flux.retry_interval": "5s", "flux.timeout": "10m",
	"cluster.kubernetes_version": "v1.36.4", "cluster.pod_cidr": "10.244.0.0/16",
	"cluster.service_cidr":  "10.96.0.0/16",
	"cluster.docker_socket": "/run/%s", "cluster.docker_host": "unix:///run/%s",
	"cluster.registry_mirrors.0.url": "http://mirror.example.org/%s", "cluster.rke2.air_gapped_checksum": "",
	"cluster.aws.region": "eu-central-1", "cluster.aws.s3_bucket_name": "cluster-api-provider-aws-%s",
	"cluster.aws.credentials":                "%sACg==",
	"cluster.aws.control_plane_machine_type": "t3.%s", "cluster.aws.worker_machine_type": "t4.%s",
	"cluster.aws.image_lookup_org": "123456789012", "cluster.aws.presigned_url_duration": "45m",
	"cluster.openstack.clouds_yaml_b64": "", "cluster.openstack.cacert_b64": encoded(caCert),
	"cluster.openstack.node_cidr":         "10.6.0.0/24",
	"cluster.openstack.dns_nameservers.0": "192.0.2.53", "cluster.openstack.api_server.floating_ip": "203.0.113.7",
	"cluster.openstack.api_server.managed_floating_ip": "203.0.113.8",
	"cluster.openstack.api_server.keepalived_image":    "registry.example.org/%s:1",
	"cluster.openstack.api_server.fixed_ip":            "10.0.0.9", "cluster.openstack.api_server.allowed_cidrs.0": "192.0.2.0/24",
	"proxies.http_proxy":  "http://u:%s@proxy.example.org:3128",
	"proxies.https_proxy": "http://v:%s@proxy.example.org:3128", "proxies.no_proxy": "%s.example.org",
	"git_repo_templates.own.url":         "https://git.example.org/%s",
	"git_repo_templates.group.base_url":  "https://git.example.org/%s",
	"components.own.ref_override.semver": ">=1.0.0-%s", "components.own.repo": "own",
	"git_auth_default.hosts.0": "git.example.org", "git_auth_default.registry_hosts.0": "registry-of-git.example.org",
	"cluster.trusted_cas": caCert, "cluster.registry_mirrors.0.ca": "",
	"git_repo_templates.own.ca": "", "git_repo_templates.group.ca": "",
	"cluster.machines.files.0.path": "/opt/%s", "cluster.machines.files.0.permissions": "0640",
	"cluster.machines.users.0.shell":                 "/bin/%s",
	"cluster.machines.users.0.ssh_authorized_keys.0": "ssh-ed25519 AAAA %s",
	"cluster.kubernetes.oidc.issuer_url":             "https://%s.example.org", "cluster.kubernetes.oidc.ca": caCert,
	"cluster.kubernetes.encryption_at_rest.keys.0.secret": encryptionKey,
	"cluster.kubernetes.cert_sans.0":                      "%s.example.org",
	"cluster.health_checks.workers.max_unhealthy":         "40%",
	"cluster.backup.schedule":                             "17 3 * * *",
	"cluster.backup.image":                                "registry.example.org/cluster-init:%s",
	"cluster.backup.recipients.0":                         agePublic,
}

// apart are strings of the schema that are no source here: keys of maps are, or templates, or text for Flux, which the
// user writes as such.
var apart = []string{
	"cluster.node_image_digests.*", "git_repo_templates.own.base_url", "git_repo_templates.group.url",
	"components.own.path", "components.own.namespace",
	"components.own.controllers.*", "components.own.dependsOn.*", "components.own.substitute.*",
	"git_repo_templates.group.ref.*", "git_repo_templates.group.auth.*",
	"git_repo_templates.own.auth.ssh_private_key", "git_repo_templates.own.auth.known_hosts", // for ssh
	"cluster.kubernetes.audit_policy.rules.0.nonResourceURLs.*", // not next to resources
	"cluster.machineadm.*", "cluster.kubernetes_files.*", // see TestMachineadmPreparesMachines: base64 in a Secret
	"cluster.kubernetes_mirror", "cluster.kubernetes_sysext.*", // see TestSysextOfKubernetes: for a source and a version
	"cluster.certificate_authorities.*", // see TestAuthorities: they fit together
	"components.own.chart.*",            // see TestValuesOfAChart
}

// samples are keys in maps that have any.
var samples = map[string][]string{
	"registry_secret": {"registry.example.org"}, "git_repo_templates": {"own", "group"}, "components": {"own"},
	"components.own.labels": {"team"}, "cluster.node_image_digests": {"*"}, "components.own.substitute": {"*"},
	"cluster.worker.annotations": {"example.org/note"}, "cluster.worker.labels": {"example.org/site"},
	"cluster.workers": {"gpu"}, "cluster.workers.gpu.annotations": {"example.org/note"},
	"cluster.workers.gpu.labels": {"example.org/gpu"}, "cluster.machines.sysctls": {"net.core.somaxconn"},
	"cluster.kubernetes.api_server.extra_args": {"event-ttl"},
	"cluster.kubernetes_files":                 {"v1.36.4"}, "cluster.kubernetes_sysext": {"v1.36.4"},
	"cluster.kubernetes.controller_manager.extra_args": {"profiling"},
	"cluster.kubernetes.scheduler.extra_args":          {"profiling"},
	"cluster.kubernetes.kubelet.extra_args":            {"max-pods"},
}

// sources are all values of the schema that are text.
func sources(t *testing.T) []source {
	t.Helper()
	var found []source
	visitSchema(t, func(path []string, at map[string]any) {
		name := strings.Join(path, ".")
		types, _ := at["type"].([]any)
		isText := at["type"] == "string" || slices.Contains(types, any("string"))
		if !isText || slices.ContainsFunc(apart, func(a string) bool { return matches(a, name) }) {
			return
		}
		s := source{path: path, form: "%s", word: fmt.Sprintf("ordinary%02dx", len(found))}
		if pattern, given := at["pattern"].(string); given {
			s.pattern = regexp.MustCompile(pattern)
		}
		if most, given := at["maxLength"].(float64); given {
			s.most = int(most)
		}
		if form, given := forms[name]; given {
			s.form = form
		}
		if s.ordinary() != "" && !s.fits(s.ordinary()) {
			t.Errorf("%s has a form: give the test an ordinary value, %q is none", name, s.ordinary())
		}
		found = append(found, s)
	})
	return found
}

// visitSchema shows visit every value that the schema knows, with a key of samples where any may be.
func visitSchema(t *testing.T, visit func(path []string, schema map[string]any)) {
	t.Helper()
	text, err := fs.ReadFile(clusterinit.Content(), "charts/telco-cloud-init/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var walk func(path []string, at map[string]any)
	walk = func(path []string, at map[string]any) {
		visit(slices.Clone(path), at)
		properties, _ := at["properties"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			walk(append(slices.Clone(path), key), properties[key].(map[string]any))
		}
		if items, isMap := at["items"].(map[string]any); isMap {
			walk(append(slices.Clone(path), "0"), items)
		}
		if values, isMap := at["additionalProperties"].(map[string]any); isMap {
			keys, given := samples[strings.Join(path, ".")]
			for _, key := range keys {
				walk(append(slices.Clone(path), key), values)
			}
			if !given {
				t.Errorf("values.schema.json has keys of any name at %s: give the test one", path)
			}
		}
	}
	walk(nil, schema)
}

// matches tells whether a name is a prefix with .* behind it, or the same.
func matches(pattern, name string) bool {
	prefix, wild := strings.CutSuffix(pattern, "*")
	return pattern == name || wild && strings.HasPrefix(name, prefix)
}

// put sets the value at a path of nested maps and lists.
func put(values map[string]any, path []string, value any) {
	if len(path) == 1 {
		values[path[0]] = value
		return
	}
	if _, err := strconv.Atoi(path[1]); err == nil { // the first entry of a list
		if len(path) == 2 {
			values[path[0]] = []any{value}
			return
		}
		list, _ := values[path[0]].([]any)
		if list == nil {
			list = []any{map[string]any{}}
			values[path[0]] = list
		}
		put(list[0].(map[string]any), path[2:], value)
		return
	}
	nested, _ := values[path[0]].(map[string]any)
	if nested == nil {
		nested = map[string]any{}
		values[path[0]] = nested
	}
	put(nested, path[1:], value)
}
