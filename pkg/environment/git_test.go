package environment_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// withRepo are the values of a component `one` that is read from the repository `shared`.
func withRepo(url string, more ...string) []string {
	return append([]string{"components.one.enabled=true", "components.one.repo=shared",
		"git_repo_templates.shared.url=" + url}, more...)
}

var shellLogin = variables(map[string]string{"GITLAB_TOKEN": "shell-token"})

// A token of the shell has a host: no other one sees it, and without TLS none does.
func TestDefaultLoginGoesToItsHosts(t *testing.T) {
	const hosts = "git_auth_default.hosts={git.example.org,other.example.org:8443}"
	for name, test := range map[string]struct {
		sets []string
		user string // the login that the GitRepository has; empty: none
		url  string // of the GitRepository; empty: that of the values
	}{
		"no host is named": {sets: withRepo("https://git.example.org/a.git")},
		"its host":         {sets: withRepo("https://git.example.org/a.git", hosts), user: "git"},
		"its host with a user": {sets: withRepo("https://git.example.org/a.git", hosts,
			"git_auth_default.username=robot"), user: "robot"},
		"the usual port":         {sets: withRepo("https://git.example.org:443/a.git", hosts), user: "git"},
		"another host":           {sets: withRepo("https://github.com/a/b.git", hosts)},
		"a host that ends alike": {sets: withRepo("https://evilgit.example.org/a.git", hosts)},
		"another port":           {sets: withRepo("https://git.example.org:8443/a.git", hosts)},
		"its port":               {sets: withRepo("https://other.example.org:8443/a.git", hosts), user: "git"},
		"capital letters":        {sets: withRepo("https://Git.Example.ORG/a.git", hosts), user: "git"},
		"over http, accepted": {sets: withRepo("http://git.example.org/a.git", hosts,
			"git_auth_default.allow_http=true"), user: "git"},
		"over ssh": {sets: withRepo("ssh://git@git.example.org/a.git", hosts)},
		"the form of scp": {sets: withRepo("git@git.example.org:group/a.git", hosts),
			url: "ssh://git@git.example.org/group/a.git"},
		"scp without a user": {sets: withRepo("git.example.org:/srv/a.git"),
			url: "ssh://git@git.example.org/srv/a.git"},
		"none is wanted": {sets: withRepo("https://git.example.org/a.git", hosts,
			"git_repo_templates.shared.auth={}")},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "none is wanted" {
				test.sets = withRepo("https://git.example.org/a.git", hosts, "git_repo_templates.shared.auth.username=")
			}
			env := load(t, environment.Options{Sets: test.sets, Variables: shellLogin})
			objects := rendered(t, env)
			repository := find(t, objects, "GitRepository", "shared")
			secret, _, _ := unstructured.NestedString(repository.Object, "spec", "secretRef", "name")
			var user string
			if secret != "" {
				user, _, _ = unstructured.NestedString(find(t, objects, "Secret", secret).Object, "stringData",
					"username")
			}
			if user != test.user {
				t.Errorf("it is read as %q, want %q", user, test.user)
			}
			if url, _, _ := unstructured.NestedString(repository.Object, "spec", "url"); test.url != "" &&
				url != test.url {
				t.Errorf("url %q, want %q", url, test.url)
			}
			given, err := env.Objects()
			if err != nil {
				t.Fatal(err)
			}
			if stored := strings.Contains(string(given.Secrets.Data[environment.ValuesKey]), "shell-token"); stored != (test.user != "") {
				t.Errorf("the shell's token is stored: %t, want %t", stored, test.user != "")
			}
			changes, err := env.Changes(given)
			if err != nil || len(changes) > 0 {
				t.Errorf("what was just given has changed: %v (%v)", changes, err)
			}
		})
	}
}

func TestHostOfTheSource(t *testing.T) {
	for name, test := range map[string]struct {
		sets []string
		host string
		want []string
	}{
		"nothing is there": {host: "git.example.org"},
		"another host":     {sets: withRepo("https://github.com/a/b.git"), host: "git.example.org"},
		"the same host": {sets: withRepo("https://git.example.org/b.git"), host: "git.example.org",
			want: []string{"git.example.org"}},
		"hosts are named already": {sets: withRepo("https://git.example.org/b.git",
			"git_auth_default.hosts={a.example.org}"), host: "git.example.org", want: []string{"a.example.org"}},
		"no Git source": {sets: withRepo("https://git.example.org/b.git")},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := load(t, environment.Options{Sets: test.sets, Variables: shellLogin}).WithGitHost(test.host)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, env.GitHosts()); diff != "" {
				t.Errorf("hosts (-want +got):\n%s", diff)
			}
		})
	}
}

// What an earlier run took from its source stays where this one has no such source, or no token. Another token never
// goes to those hosts.
func TestHostsOfTheSourceAreKept(t *testing.T) {
	sets := withRepo("https://git.example.org/a.git")
	built, err := load(t, environment.Options{Sets: sets, Variables: shellLogin}).WithGitHost("git.example.org")
	if err != nil {
		t.Fatal(err)
	}
	fromFiles := load(t, environment.Options{Sets: append(sets, "git_auth_default.hosts={git.example.org}"),
		Variables: shellLogin})
	source := []string{"git.example.org"}
	for name, test := range map[string]struct {
		before  *environment.Environment
		sets    []string
		token   string
		want    []string
		changed []string
	}{
		"the same token": {before: built, sets: sets, token: "shell-token", want: source},
		"no token":       {before: built, sets: sets, want: source},
		"another token": {before: built, sets: sets, token: "other", changed: []string{"git_auth_default.hosts",
			"git_auth_default.password"}},
		"hosts of files": {before: built, sets: append(sets, "git_auth_default.hosts={a.example.org}"),
			token: "shell-token", want: []string{"a.example.org"}, changed: []string{"git_auth_default.hosts",
				"git_auth_default.password"}},
		"files name none today": {before: fromFiles, sets: sets, token: "shell-token",
			changed: []string{"git_auth_default.hosts", "git_auth_default.password"}},
	} {
		t.Run(name, func(t *testing.T) {
			given, err := test.before.Objects()
			if err != nil {
				t.Fatal(err)
			}
			shell := variables(map[string]string{"GITLAB_TOKEN": test.token})
			for range 2 { // a second run keeps what the first one has kept
				kept, _, err := load(t, environment.Options{Sets: test.sets, Variables: shell}).Keep(given, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, kept.GitHosts(), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("hosts (-want +got):\n%s", diff)
				}
				changes, err := kept.Changes(given)
				var changed []string
				for _, change := range changes {
					changed = append(changed, change.Key)
				}
				if diff := cmp.Diff(test.changed, changed); err != nil || diff != "" {
					t.Errorf("changes (-want +got): %v\n%s", err, diff)
				}
				if given, err = kept.Objects(); err != nil {
					t.Fatal(err)
				}
				test.changed = nil
			}
		})
	}
}

const (
	sshKey   = "git_repo_templates.shared.auth.ssh_private_key=-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n"
	sshHosts = "git_repo_templates.shared.auth.known_hosts=git.example.org ssh-ed25519 AAAA\n"
)

// A key for ssh is in a Secret as Flux wants it, and the default login is not.
func TestRepositoryOverSSH(t *testing.T) {
	env := load(t, environment.Options{Sets: withRepo("git@git.example.org:group/a.git", sshKey, sshHosts,
		"git_auth_default.hosts={git.example.org}"), Variables: shellLogin})
	objects := rendered(t, env)
	name, _, _ := unstructured.NestedString(find(t, objects, "GitRepository", "shared").Object, "spec", "secretRef",
		"name")
	got, _, _ := unstructured.NestedStringMap(find(t, objects, "Secret", name).Object, "stringData")
	want := map[string]string{"identity": "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n",
		"known_hosts": "git.example.org ssh-ed25519 AAAA\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Secret (-want +got):\n%s", diff)
	}
	if !environment.Secret("git_repo_templates.shared.auth.ssh_private_key") {
		t.Error("a private key is shown")
	}
}

// What Kubernetes or Flux would refuse, or take for something else, is refused by name.
func TestGitValuesAreRefused(t *testing.T) {
	const hosts = "git_auth_default.hosts={git.example.org}"
	component := func(name, repo string) []string {
		return []string{"components." + name + ".enabled=true", "components." + name + ".repo=" + repo}
	}
	for name, test := range map[string]struct {
		sets []string
		want string
	}{
		"a password": {withRepo("https://robot:hunter2@git.example.org/a.git"),
			"git_repo_templates.shared.url holds credentials"},
		"a token as user": {withRepo("https://hunter2@git.example.org/a.git"),
			"git_repo_templates.shared.url holds credentials"},
		"a password over ssh": {withRepo("ssh://git:hunter2@git.example.org/a.git"),
			"git_repo_templates.shared.url is an address over ssh with a password"},
		"a base with one": {append(component("one", "group"),
			"git_repo_templates.group.base_url=https://u:hunter2@git.example.org/g"),
			"git_repo_templates.group.base_url holds credentials"},
		"a query":       {withRepo("https://git.example.org/a.git?ref=main"), "has a part after ? or #"},
		"a file":        {withRepo("file:///srv/a.git"), "is not the address of a repository"},
		"a path":        {withRepo("/srv/a.git"), "is not the address of a repository"},
		"no path":       {withRepo("https://git.example.org"), "is not the address of a repository"},
		"a prefix":      {withRepo("git::https://git.example.org/a.git"), "is not the address of a repository"},
		"a port in scp": {withRepo("git@git.example.org:2222/a.git"), "has digits after the host"},
		"over http": {withRepo("http://git.example.org/a.git", hosts),
			"git_auth_default would be sent there in clear text"},
		"its own login by http": {withRepo("http://git.example.org/a.git", "git_repo_templates.shared.auth.password=x"),
			"git_repo_templates.shared.auth would be sent there in clear text"},
		"a bad name": {append(component("one", "Bad_Name"),
			"git_repo_templates.Bad_Name.url=https://git.example.org/a.git"),
			`git_repo_templates has "Bad_Name", which is no name for an object`},
		"a long name": {append(component("one", strings.Repeat("a", 64)), "git_repo_templates."+strings.Repeat("a", 64)+
			".url=https://git.example.org/a.git"),
			"which is no name for an object"},
		"the name of the source": {append(component("one", "telco-cloud-init"),
			"git_repo_templates.telco-cloud-init.url=https://git.example.org/a.git"),
			"which is the name of the source itself"},
		"a component's bad name": {[]string{"components.My_Own.enabled=true", "components.My_Own.path=./x"},
			`components has "My_Own", which is no name for an object`},
		"a component's long name": {[]string{"components." + strings.Repeat("a", 64) + ".enabled=true", "components." +
			strings.Repeat("a", 64) + ".path=./x"}, "which is no name for an object"},
		"two that would be one": {slices.Concat(component("one", "a-b"), component("b", "a"),
			[]string{"components.b.ref_override.branch=next",
				"git_repo_templates.a.url=https://git.example.org/a.git",
				"git_repo_templates.a-b.url=https://git.example.org/b.git"}),
			"would both be the GitRepository a-b"},
		"a Secret that would be overwritten": {slices.Concat(component("one", "x"), component("two", "y"),
			[]string{"git_repo_templates.x.url=https://git.example.org/x.git",
				"git_repo_templates.x.auth.password=p", "git_repo_templates.y.url=https://git.example.org/y.git",
				"git_repo_templates.y.auth.secret=git-auth-x"}),
			"auth.secret git-auth-x, which is the Secret that the chart makes"},
		"a Secret's bad name": {withRepo("https://git.example.org/a.git",
			"git_repo_templates.shared.auth.secret=My_Secret"), "git_repo_templates"},
		"a file in the token": {withRepo("https://git.example.org/a.git", hosts,
			"git_auth_default.password=/builds/g/p.tmp/GITLAB_TOKEN"), "it is the path of a file"},
		"a line feed of the shell": {withRepo("https://git.example.org/a.git", hosts, "git_auth_default.password=a\nb"),
			"it has a line break"},
		"a masked token": {withRepo("https://git.example.org/a.git", hosts,
			"git_auth_default.password=[MASKED]"), "it is what a log shows"},
		"a line break": {withRepo("https://git.example.org/a.git",
			"git_repo_templates.shared.auth.password=hunter2\n"), "auth.password has a line break"},
		"a CA over ssh": {withRepo("git@git.example.org:a.git", "git_repo_templates.shared.ca="+ownCA),
			"git_repo_templates.shared.ca is for an address over https"},
		"a CA and a Secret": {withRepo("https://git.example.org/a.git", "git_repo_templates.shared.ca="+ownCA,
			"git_repo_templates.shared.auth.secret=s"), "git_repo_templates.shared.ca is for an address over https"},
		"a key over https": {withRepo("https://git.example.org/a.git", sshKey, sshHosts),
			"has a key or known_hosts, which are for an address over ssh"},
		"a key alone": {withRepo("git@git.example.org:a.git", sshKey), "needs both ssh_private_key and known_hosts"},
		"a server's key alone": {withRepo("git@git.example.org:a.git", sshHosts),
			"needs both ssh_private_key and known_hosts"},
		"a public key": {withRepo("git@git.example.org:a.git", sshHosts,
			"git_repo_templates.shared.auth.ssh_private_key=ssh-ed25519 hunter2"), "is not a private key"},
		"a key and a password": {withRepo("git@git.example.org:a.git", sshKey, sshHosts,
			"git_repo_templates.shared.auth.password=hunter2"), "has both ssh_private_key and another login"},
		"a registry's": {[]string{"registry_secret.r.username=u", "registry_secret.r.password=hunter2\r"},
			"registry_secret.r.password has a line break"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(), Sets: test.sets, Variables: shellLogin})
			if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), test.want) ||
				fault.HintOf(err) == "" {
				t.Fatalf("%s: %v (hint %q), want %q", fault.CodeOf(err), err, fault.HintOf(err), test.want)
			}
			if strings.Contains(err.Error()+fault.HintOf(err), "hunter2") {
				t.Errorf("the message holds the password: %v", err)
			}
		})
	}
}

// A Secret of the user's own whose name begins as those of the chart is only referred to.
func TestSecretOfTheUsersOwn(t *testing.T) {
	env := load(t, environment.Options{Sets: withRepo("https://git.example.org/a.git",
		"git_repo_templates.shared.auth.secret=git-auth-x")})
	for _, object := range rendered(t, env) {
		if object.GetKind() == "Secret" {
			t.Errorf("the chart makes the Secret %s", object.GetName())
		}
	}
}

func TestWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		name string
		sets []string
		want []string // in this order, each a part of one
	}{
		"nothing": {},
		"a certificate that is not verified": {sets: []string{"cluster.registry_mirrors[0].host=docker.io",
			"cluster.registry_mirrors[0].url=https://m", "cluster.registry_mirrors[0].skip_verify=true"},
			want: []string{"mirror of docker.io is not verified"}},
		"a mirror over http": {sets: []string{"cluster.registry_mirrors[0].host=docker.io",
			"cluster.registry_mirrors[0].url=http://m"}, want: []string{"mirror of docker.io is reached over http"}},
		"the cluster's own registry": {sets: []string{"cluster.registry_mirrors[0].host=docker.io",
			"cluster.registry_mirrors[0].url=http://kubeadm-capd-registry:5000"}},
		"a repository over http": {sets: withRepo("http://h/a.git"),
			want: []string{"git_repo_templates.shared is read over http", "is read without credentials"}},
		"a bucket": {name: "kubeadm-capa", sets: []string{"cluster.aws.s3_bucket_name=my-bucket"},
			want: []string{"cluster.aws.s3_bucket_name is my-bucket"}},
		"a cloud": {name: "kubeadm-capo",
			sets: []string{"cluster.openstack.clouds_yaml_b64=" + base64.StdEncoding.EncodeToString(
				[]byte(passwordCloud+"    verify: false\n"))},
			want: []string{"the certificate of cloud"}},
		"an address that one of three machines has": {name: "kubeadm-capo",
			sets: []string{"cluster.control_plane.replicas=3"}, want: []string{"with 3 control-plane machines"}},
		"an address of the user's that one of three machines has": {name: "rke2-capo", sets: []string{
			"cluster.control_plane.replicas=3", "cluster.openstack.api_server.floating_ip=192.0.2.7"},
			want: []string{"Use mode octavia"}},
		"an address that the only machine has": {name: "kubeadm-capo"},
		"a load balancer": {name: "kubeadm-capo", sets: []string{"cluster.control_plane.replicas=3",
			"cluster.openstack.api_server.mode=octavia"}},
		"three machines elsewhere": {sets: []string{"cluster.control_plane.replicas=3"}},
		"a registry without a login": {sets: []string{"git_auth_default.registry_hosts={r}",
			"git_auth_default.password="}, want: []string{"images are pulled without credentials"}},
	} {
		t.Run(name, func(t *testing.T) {
			shell := allVariables()
			maps.Copy(shell, map[string]string{"GITLAB_TOKEN": "shell-token"})
			got, err := load(t, environment.Options{Name: test.name, Sets: test.sets,
				Variables: variables(shell)}).Warnings()
			if err != nil || len(got) != len(test.want) {
				t.Fatalf("warnings %q (%v), want %q", got, err, test.want)
			}
			for i, want := range test.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("warning %q, want %q", got[i], want)
				}
			}
		})
	}
}

// The login for registries reaches pods of components, of Flux, and of the machines, and no other registry.
func TestRegistryLogins(t *testing.T) {
	env := load(t, environment.Options{Variables: shellLogin,
		Sets: []string{"git_auth_default.registry_hosts={registry.example.org}",
			"registry_secret.own\\.example\\.org.username=u", "registry_secret.own\\.example\\.org.password=p",
			"components." + strings.Repeat("a", 40) + ".enabled=true", "components." + strings.Repeat("a", 40) +
				".path=./x", "components." + strings.Repeat("a", 40) + ".namespaces={some-long-namespace}"}})
	text, err := env.DockerConfig()
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Auths map[string]struct{ Username, Password, Auth string }
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"own.example.org", "registry.example.org"},
		slices.Sorted(maps.Keys(config.Auths))); diff != "" {
		t.Errorf("registries (-want +got):\n%s", diff)
	}
	if login := config.Auths["registry.example.org"]; login.Username != "git" || login.Password != "shell-token" {
		t.Errorf("the default login is %+v", login)
	}
	objects := rendered(t, env)
	pull := find(t, objects, "Secret", "telco-cloud-init-pull-secret")
	if pull.GetLabels()["reconcile.fluxcd.io/watch"] != "Enabled" {
		t.Errorf("Flux does not see that it has changed: labels %v", pull.GetLabels())
	}
	machines, _, _ := unstructured.NestedString(
		find(t, objects, "Secret", "telco-cloud-init-machine-registries").Object, "stringData", "config.json")
	if machines != string(text) {
		t.Errorf("machines have %q, Flux %q", machines, text)
	}
	for _, object := range objects {
		if object.GetKind() == "Kustomization" && len(object.GetName()) > 63 {
			t.Errorf("Kustomization %s is too long for Flux's label", object.GetName())
		}
	}
	text, err = load(t, environment.Options{Variables: shellLogin}).DockerConfig()
	if err != nil || text != nil {
		t.Errorf("without a registry there is a login: %q (%v)", text, err)
	}
}

// A private authority of a repository is in the Secret that Flux reads it with, with or without a login.
func TestPrivateAuthorityOfARepository(t *testing.T) {
	for name, more := range map[string][]string{"without a login": {"git_repo_templates.shared.ca=" + ownCA},
		"with one": {"git_repo_templates.shared.ca=" + ownCA, "git_repo_templates.shared.auth.password=p"}} {
		objects := rendered(t, load(t, environment.Options{Sets: withRepo("https://git.example.org/a.git", more...)}))
		secret, _, _ := unstructured.NestedString(find(t, objects, "GitRepository", "shared").Object, "spec",
			"secretRef", "name")
		data, _, _ := unstructured.NestedStringMap(find(t, objects, "Secret", secret).Object, "stringData")
		if _, login := data["password"]; data["ca.crt"] != ownCA || login != (len(more) > 1) {
			t.Errorf("%s: Secret %s has the keys %v", name, secret, slices.Sorted(maps.Keys(data)))
		}
	}
}
