package environment_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	anImage   = "cluster.openstack.image"
	cloudPath = "cluster.openstack.clouds_yaml_b64"
	httpPath  = "proxies.http_proxy"
)

// A cluster is defined by files and flags: a shell that differs from the one that built it changes nothing by itself.
func TestKeep(t *testing.T) {
	file := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n",
		"values.yaml": "cluster: {image: \"${CLUSTER_INIT_VAR_IMAGE:=first}\"}\n"})
	// A login is stored only if something needs it.
	reads := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n", "values.yaml": `
components: {one: {enabled: true, repo: shared}}
git_repo_templates: {shared: {url: "https://git.example.org/a.git"}}
git_auth_default: {hosts: [git.example.org]}
`})
	cases := map[string]struct {
		name          string // of the environment; empty: kubeadm-capd
		before, after map[string]string
		sets          []string // of the later run
		allowed       []string
		kept          []string // paths
		set           []string // of them, those that the shell sets
		changed       []string // paths that differ all the same
		refused       []string // of them, those that take something away
	}{
		"the same shell": {before: map[string]string{"http_proxy": "http://p:1"},
			after: map[string]string{"http_proxy": "http://p:1"}},
		"the same proxy in another spelling": {before: map[string]string{"http_proxy": "http://p:1"},
			after: map[string]string{"HTTP_PROXY": "p:1"}},
		"a proxy that is gone": {before: map[string]string{"http_proxy": "http://p:1"},
			kept: []string{httpPath}},
		"a proxy that is new": {after: map[string]string{"http_proxy": "http://p:1"},
			kept: []string{httpPath}, set: []string{httpPath}},
		"another proxy": {before: map[string]string{"http_proxy": "http://p:1"},
			after: map[string]string{"http_proxy": "http://q:1"}, kept: []string{httpPath}, set: []string{httpPath}},
		"another proxy, which is allowed": {before: map[string]string{"http_proxy": "http://p:1"},
			after: map[string]string{"http_proxy": "http://q:1"}, allowed: []string{httpPath},
			changed: []string{httpPath}, refused: []string{httpPath}},
		"another proxy by a flag": {before: map[string]string{"http_proxy": "http://p:1"},
			after: map[string]string{"http_proxy": "http://q:1"}, sets: []string{httpPath + "=http://r:1"},
			changed: []string{httpPath}},
		"another engine": {after: map[string]string{"DOCKER_HOST": "unix:///run/user/1000/docker.sock"},
			kept: []string{"cluster.docker_host"}, set: []string{"cluster.docker_host"}},
		"a token": {name: reads, before: map[string]string{"GITLAB_TOKEN": "one"},
			after: map[string]string{"GITLAB_TOKEN": "two"}, changed: []string{"git_auth_default.password"}},
		"a token that is gone": {name: reads, before: map[string]string{"GITLAB_TOKEN": "one"},
			kept: []string{"git_auth_default.password"}},
		"a token that nothing needs": {before: map[string]string{"GITLAB_TOKEN": "one"},
			after: map[string]string{"GITLAB_TOKEN": "two"}},
		"a needless token that is gone": {before: map[string]string{"GITLAB_TOKEN": "one", "GITLAB_USER": "me"}},
		"a needless token that is new":  {after: map[string]string{"GITLAB_TOKEN": "one", "GITLAB_USER": "me"}},
		"an image of machines": {name: "kubeadm-capo",
			before: map[string]string{"OPENSTACK_IMAGE_NAME": "one"},
			after:  map[string]string{"OPENSTACK_IMAGE_NAME": "two"}, changed: []string{anImage},
			refused: []string{anImage}},
		"an image of machines by a flag": {name: "kubeadm-capo",
			before: map[string]string{"OPENSTACK_IMAGE_NAME": "one"}, sets: []string{anImage + "=two"},
			changed: []string{anImage}},
		"what is in no template of a machine": {name: "kubeadm-capo",
			before: map[string]string{"OPENSTACK_API_SERVER_FLOATING_IP": "203.0.113.7"},
			after:  map[string]string{"OPENSTACK_DNS_NAMESERVERS": "192.0.2.1"},
			kept:   []string{"cluster.openstack.api_server.floating_ip", "cluster.openstack.dns_nameservers"},
			set:    []string{"cluster.openstack.dns_nameservers"}},
		"another password of the cloud": {name: "kubeadm-capo",
			after: map[string]string{"OPENSTACK_CLOUD_YAML_B64": encoded(
				strings.Replace(passwordCloud, "s3cret", "other", 1))}, changed: []string{cloudPath}},
		"another project of the cloud": {name: "kubeadm-capo",
			after: map[string]string{"OPENSTACK_CLOUD_YAML_B64": encoded(
				strings.Replace(passwordCloud, "project_name: ", "project_name: not-", 1))},
			changed: []string{cloudPath}, refused: []string{cloudPath}},
		"another cloud": {name: "kubeadm-capo",
			after: map[string]string{"OPENSTACK_CLOUD_YAML_B64": encoded(
				strings.Replace(passwordCloud, "https://", "https://not-", 1))}, changed: []string{cloudPath},
			refused: []string{cloudPath}},
		"one's own variable": {name: file, before: map[string]string{"CLUSTER_INIT_VAR_IMAGE": "mine"},
			kept: []string{"cluster.image"}},
		"one's own variable, machines": {name: file, before: map[string]string{"CLUSTER_INIT_VAR_IMAGE": "mine"},
			after: map[string]string{"CLUSTER_INIT_VAR_IMAGE": "other"}, changed: []string{"cluster.image"},
			refused: []string{"cluster.image"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "kubeadm-capd"
			}
			given, err := shellEnvironment(t, tc.name, tc.before).Objects()
			if err != nil {
				t.Fatal(err)
			}
			kept, list, err := shellEnvironment(t, tc.name, tc.after, tc.sets...).Keep(given, tc.allowed)
			if err != nil {
				t.Fatal(err)
			}
			var paths, set []string
			for _, k := range list {
				paths = append(paths, k.Path)
				if k.Set {
					set = append(set, k.Path)
				}
			}
			changes, err := kept.Changes(given)
			if err != nil {
				t.Fatal(err)
			}
			var changed, refused []string
			for _, c := range changes {
				changed = append(changed, c.Key)
				if c.TakesAway != "" {
					refused = append(refused, c.Key)
				}
			}
			for what, pair := range map[string][2][]string{"kept": {paths, tc.kept}, "set": {set, tc.set},
				"changed": {changed, tc.changed}, "refused": {refused, tc.refused}} {
				if !slices.Equal(pair[0], pair[1]) {
					t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
				}
			}
		})
	}
}

// shellEnvironment is an environment from a shell with these variables; those of OpenStack's it has besides.
func shellEnvironment(t *testing.T, name string, shell map[string]string, sets ...string) *environment.Environment {
	t.Helper()
	all := map[string]string{}
	if strings.Contains(name, "capo") {
		all = openstackVariables()
	}
	maps.Copy(all, shell)
	return load(t, environment.Options{Name: name, Variables: variables(all), Sets: sets})
}

// The third run, from yet another shell, keeps what the first one took.
func TestKeptValuesAreKeptOn(t *testing.T) {
	given, err := shellEnvironment(t, "kubeadm-capd", map[string]string{"http_proxy": "http://p:1"}).Objects()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		kept, list, err := shellEnvironment(t, "kubeadm-capd", nil).Keep(given, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := kept.Spec().Proxies.HTTP; got != "http://p:1" || len(list) != 1 {
			t.Fatalf("the proxy is %q, kept %v", got, list)
		}
		if over, err := kept.WithOverrides(map[string]any{"cluster": map[string]any{"image": "x"}}); err != nil ||
			over.Spec().Proxies.HTTP != "http://p:1" {
			t.Fatalf("with overrides it is %v, %v", over, err)
		}
		if given, err = kept.Objects(); err != nil {
			t.Fatal(err)
		}
	}
}

// Where the file's own default changes, that counts, unless the shell gave the value before.
func TestAnotherDefaultIsNoShell(t *testing.T) {
	of := func(t *testing.T, fallback string, shell map[string]string) *environment.Environment {
		return shellEnvironment(t, folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n",
			"values.yaml": "cluster: {image: \"${CLUSTER_INIT_VAR_IMAGE:=" + fallback + "}\"}\n"}), shell)
	}
	for name, tc := range map[string]struct {
		before map[string]string
		legacy bool // an older version made the cluster
		want   string
	}{
		"the default of before": {nil, false, "second"},
		"the shell gave it":     {map[string]string{"CLUSTER_INIT_VAR_IMAGE": "mine"}, false, "mine"},
		"not known who gave it": {nil, true, "first"},
	} {
		t.Run(name, func(t *testing.T) {
			given, err := of(t, "first", tc.before).Objects()
			if err != nil {
				t.Fatal(err)
			}
			if tc.legacy {
				delete(given.Values.Annotations, owned.ShellAnnotation)
			}
			kept, _, err := of(t, "second", nil).Keep(given, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := kept.Spec().Cluster.Image; got != tc.want {
				t.Errorf("the image is %q, want %q", got, tc.want)
			}
		})
	}
}

// The same files from two shells make the same machines, once the cluster is there.
func TestAnotherShellReplacesNoMachines(t *testing.T) {
	first := shellEnvironment(t, "kubeadm-capd", nil)
	given, err := first.Objects()
	if err != nil {
		t.Fatal(err)
	}
	other := shellEnvironment(t, "kubeadm-capd", map[string]string{"http_proxy": "http://p:1", "no_proxy": "a",
		"DOCKER_HOST": "unix:///run/user/1000/docker.sock"})
	kept, _, err := other.Keep(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, errFirst := first.Templates()
	got, errKept := kept.Templates()
	if errFirst != nil || errKept != nil || !slices.Equal(got, want) {
		t.Errorf("templates %v, want %v (%v, %v)", got, want, errFirst, errKept)
	}
	if from := kept.FromShell(); len(from) > 0 {
		t.Errorf("from the shell: %v", from)
	}
}

func TestOriginsNameTheVariable(t *testing.T) {
	own := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n",
		"values.yaml": "cluster: {image: \"${CLUSTER_INIT_VAR_IMAGE}\"}\n"})
	env := shellEnvironment(t, own, map[string]string{"HTTP_PROXY": "http://p:1", "CLUSTER_INIT_VAR_IMAGE": "mine"})
	want := map[string]string{"proxies.http_proxy": "variable HTTP_PROXY",
		"proxies.https_proxy": "built-in environment-values/base/secrets.yaml",
		"cluster.image":       own + "/values.yaml, variable CLUSTER_INIT_VAR_IMAGE"}
	for _, o := range env.Origins(environment.Management) {
		if from, asked := want[o.Path]; asked && o.From != from {
			t.Errorf("%s is from %q, want %q", o.Path, o.From, from)
		}
	}
}

// What the schema wants as text stays text, as with helm --set-string.
func TestSetKeepsText(t *testing.T) {
	env := shellEnvironment(t, "kubeadm-capo", nil, "cluster.openstack.image=123456",
		"cluster.openstack.ssh_key_name=true", "cluster.openstack.dns_nameservers[0]=1.10",
		"cluster.worker.replicas=2", "cluster.openstack.load_balancers=true")
	cloud := env.OpenStack()
	if cloud.Image != "123456" || cloud.SSHKeyName != "true" || !slices.Equal(cloud.Network.DNSNameservers,
		[]string{"1.10"}) || cloud.Workers.Count != 2 || !cloud.LoadBalancers {
		t.Errorf("it is %+v", cloud)
	}
}

// The shell that env.rc of Cluster API's provider for OpenStack leaves.
func TestVariablesOfTheProviderForOpenStack(t *testing.T) {
	shell := openstackVariables()
	delete(shell, "OPENSTACK_EXTERNAL_NETWORK")
	shell["OPENSTACK_EXTERNAL_NETWORK_ID"],
		shell["OPENSTACK_CLOUD_CACERT_B64"] = "79241ddc-c51b-4677-a763-f48c60870923", "Cg=="
	shell["OPENSTACK_CLOUD_YAML_B64"] = shell["OPENSTACK_CLOUD_YAML_B64"][:40] + "\n" +
		shell["OPENSTACK_CLOUD_YAML_B64"][40:] + "\n"
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capo", Content: clusterinit.Content(),
		Variables: variables(shell)})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ca := env.OpenStackCredentials(); ca != "" {
		t.Errorf("the CA is %q", ca)
	}
	if got := env.OpenStack().ExternalNetwork; got != shell["OPENSTACK_EXTERNAL_NETWORK_ID"] {
		t.Errorf("the external network is %q", got)
	}
	shell["OPENSTACK_EXTERNAL_NETWORK"] = "public"
	if got := load(t, environment.Options{Name: "kubeadm-capo",
		Variables: variables(shell)}).OpenStack().ExternalNetwork; got != "public" {
		t.Errorf("with both names the external network is %q", got)
	}
}

// The key of fingerprints is made once for each cluster: with another one all that bears a fingerprint would be
// replaced.
func TestTheKeyOfFingerprintsStays(t *testing.T) {
	const proxy = "proxies.http_proxy=http://u:one@p:1"
	first, err := shellEnvironment(t, "kubeadm-capd", nil, proxy).WithFingerprintKey()
	if err != nil {
		t.Fatal(err)
	}
	given, err := first.Objects()
	if err != nil {
		t.Fatal(err)
	}
	hashes := func(env *environment.Environment) map[string]string {
		t.Helper()
		found, err := env.TemplateHashes()
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	later, kept, err := shellEnvironment(t, "kubeadm-capd", nil, proxy).Keep(given, nil)
	if err != nil || len(kept) > 0 {
		t.Fatalf("kept: %v, %v", kept, err)
	}
	if again, err := later.WithFingerprintKey(); err != nil || !maps.Equal(hashes(again), hashes(first)) {
		t.Errorf("machines are replaced: %v, %v", hashes(again), err)
	}
	if changes, err := later.Changes(given); err != nil || len(changes) > 0 {
		t.Errorf("changes: %v, %v", changes, err)
	}
	other, err := shellEnvironment(t, "kubeadm-capd", nil, proxy).WithFingerprintKey()
	if err != nil || maps.Equal(hashes(other), hashes(first)) {
		t.Errorf("two clusters have one key: %v", err)
	}
	key, _, _ := strings.Cut(string(given.InfraSecrets.Data[environment.ValuesKey]), "\n")
	if strings.Contains(given.Values.Data[environment.ValuesKey], "fingerprint") ||
		!strings.Contains(string(given.InfraSecrets.Data[environment.ValuesKey]), "secret_fingerprint_key: ") {
		t.Errorf("the key is not in the last Secret alone: %s", key)
	}
	own := shellEnvironment(t, "kubeadm-capd", nil, "secret_fingerprint_key=mine")
	if mine, err := own.WithFingerprintKey(); err != nil || mine != own {
		t.Errorf("a user's own key is replaced: %v", err)
	}
}

// A command on another machine, without any flag, is about the cluster as flags made it. Flags that are given are all
// that there are.
func TestACommandWithoutFlagsKeepsThoseOfTheCluster(t *testing.T) {
	const password = "registry_secret.r\\.example:5000.password=hunter2"
	built := shellEnvironment(t, "kubeadm-capd", nil, "cluster.worker.replicas=2",
		"registry_secret.r\\.example:5000.username=u", password)
	built, err := built.WithRegistryMirrors([]environment.RegistryMirror{{Host: "ghcr.io", URL: "https://m"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	given, err := built.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(given.Values.Annotations[owned.FlagsAnnotation], "hunter2") {
		t.Error("the record holds a value")
	}
	changes := func(env *environment.Environment) []environment.Change {
		t.Helper()
		found, err := env.Changes(given)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	bare := shellEnvironment(t, "kubeadm-capd", nil)
	kept, err := bare.KeepFlags(given)
	if err != nil || len(changes(kept)) > 0 {
		t.Errorf("without flags: changes %v, %v", changes(kept), err)
	}
	if objects, err := kept.Objects(); err != nil ||
		objects.Values.Annotations[owned.FlagsAnnotation] != given.Values.Annotations[owned.FlagsAnnotation] {
		t.Errorf("the record of the next run is %v, %v", objects.Values.Annotations, err)
	}
	one := shellEnvironment(t, "kubeadm-capd", nil, "cluster.worker.replicas=3")
	if kept, err := one.KeepFlags(given); err != nil || kept != one {
		t.Errorf("with one flag: changes %v, %v", changes(kept), err)
	}
	own := shellEnvironment(t, "kubeadm-capd", nil, "secret_fingerprint_key=mine")
	if kept, err := own.KeepFlags(given); err != nil || kept == own {
		t.Errorf("a key of one's own is no such flag: changes %v, %v", changes(kept), err)
	}
	given.Values.Annotations[owned.FlagsAnnotation] = `{"not": "a list"}`
	if kept, err := bare.KeepFlags(given); err != nil || kept != bare {
		t.Errorf("with a broken record: %v, %v", changes(kept), err)
	}
}

// What is not stored is not said to be kept, and not recorded.
func TestATokenThatNothingNeedsIsNotSaidToBeKept(t *testing.T) {
	env := shellEnvironment(t, "kubeadm-capd", map[string]string{"GITLAB_TOKEN": "t"})
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	record := objects.Values.Annotations[owned.ShellAnnotation]
	if from := env.FromShell(); len(from) > 0 || strings.Contains(record, "git_auth_default") {
		t.Errorf("it says %q and records %s", from, record)
	}
}
