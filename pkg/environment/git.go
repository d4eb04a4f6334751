package environment

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// gitValues are the chart's values for reading Git repositories of components.
type gitValues struct {
	Auth struct {
		Username      string   `json:"username"`
		Password      string   `json:"password"`
		Secret        string   `json:"secret"`
		Hosts         []string `json:"hosts"`
		RegistryHosts []string `json:"registry_hosts"`
	} `json:"git_auth_default"`
	Repositories map[string]any `json:"git_repo_templates"`
}

// GitHosts returns the hosts that the default login may go to. If there are none, WithGitHost can add that of the
// source.
func (e *Environment) GitHosts() []string { return e.git.Auth.Hosts }

// GitHost returns the host of a repository's address, with its port unless that is the scheme's default. It follows the
// chart's template telco-cloud-init.gitHost. It is empty for an invalid address.
func GitHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Host)
	return strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80", "ssh": ":22"}[u.Scheme])
}

// WithGitHost returns a copy whose default login also goes to repositories of components at the host of the source.
// Hosts that the environment names are the complete list. If the chart makes the same objects with that host, the
// environment itself is returned.
func (e *Environment) WithGitHost(host string) (*Environment, error) {
	if host == "" || len(e.git.Auth.Hosts) > 0 || e.git.Auth.Password == "" && e.git.Auth.Secret == "" {
		return e, nil
	}
	with, err := e.withSourceHosts([]any{host})
	if err != nil {
		return nil, err
	}
	same, err := e.rendersAs(with)
	if err != nil || same {
		return e, err
	}
	return with, nil
}

const hostsPath = "git_auth_default.hosts"

// withSourceHosts returns a copy whose default login goes to hosts of the source, not to hosts in its files.
func (e *Environment) withSourceHosts(hosts []any) (*Environment, error) {
	with, err := e.WithOverrides(map[string]any{"git_auth_default": map[string]any{"hosts": hosts}})
	if err != nil {
		return nil, err
	}
	with.sourceHosts = true
	return with, nil
}

// keepSourceHosts returns a copy with the hosts that an earlier run took from its source, if this one has none: a shell
// without the token, or a command without --source-url, removes nothing. A login that the cluster does not have never
// goes there.
func (e *Environment) keepSourceHosts(given Objects, before map[string]any) (*Environment, error) {
	value, _ := below(before, strings.Split(hostsPath, "."))
	hosts, _ := value.([]any)
	password, _ := below(before, []string{"git_auth_default", "password"})
	another := e.git.Auth.Password != "" && any(e.git.Auth.Password) != password
	if len(e.git.Auth.Hosts) > 0 || len(hosts) == 0 || another || !recordedShell(given)(hostsPath) {
		return e, nil
	}
	return e.withSourceHosts(hosts)
}

// forgetUnusedLogin checks whether anything that the chart makes needs the default login. If so, it checks the login.
// If not, the login is not stored in a cluster.
func (e *Environment) forgetUnusedLogin() error {
	if e.git.Auth.Username == "" && e.git.Auth.Password == "" {
		return nil
	}
	without := *e
	without.settle(e.effective.withoutLogin())
	same := !e.mayUseLogin()
	if !same {
		var err error
		if same, err = e.rendersAs(&without); err != nil {
			return err
		}
	}
	if same {
		e.stored = without.effective
		return nil
	}
	user, token := e.nameOfLogin("username", "GITLAB_USER"), e.nameOfLogin("password", "GITLAB_TOKEN")
	return CheckLogin(user, e.git.Auth.Username, token, e.git.Auth.Password)
}

// nameOfLogin names the place of a part of the default login. The built-in environments take it from a variable.
func (e *Environment) nameOfLogin(key, variable string) string {
	path := "git_auth_default." + key
	if place := e.whence(path); !strings.HasPrefix(place, "built-in ") {
		return place + path
	}
	return "variable " + variable
}

// namesLogin matches a template that may fill in the default login.
var namesLogin = regexp.MustCompile(`git_auth_default|\.Values\s*[^.\s]`)

// mayUseLogin reports whether the chart may use the default login. If it may, only rendering shows whether it does,
// which costs some milliseconds.
func (e *Environment) mayUseLogin() bool {
	templates, err := json.Marshal(e.settled[e.lasting()]["components"])
	return err != nil || len(e.git.Repositories) > 0 || len(e.git.Auth.RegistryHosts) > 0 || namesLogin.Match(templates)
}

// rendersAs reports whether the chart makes the same objects from another environment, in both phases.
func (e *Environment) rendersAs(other *Environment) (bool, error) {
	for _, phase := range e.phases() {
		objects, err := e.Render(phase, nil)
		if err != nil {
			return false, err
		}
		others, err := other.Render(phase, nil)
		if err != nil {
			return false, fmt.Errorf("compare with another login: %w", err)
		}
		if !reflect.DeepEqual(withoutDebugValues(objects), withoutDebugValues(others)) {
			return false, nil
		}
	}
	return true, nil
}

// withoutDebugValues removes the ConfigMap that only shows the values.
func withoutDebugValues(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var kept []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetName() != DebugValuesName {
			kept = append(kept, object)
		}
	}
	return kept
}

// withoutLogin returns a copy whose git_auth_default has an empty user name and password. The keys stay: an unused
// login in the shell is no difference between two runs.
func (d documents) withoutLogin() documents {
	without := func(values map[string]any) map[string]any {
		copied := copyMap(values)
		auth, _ := copied["git_auth_default"].(map[string]any)
		for _, key := range []string{"username", "password"} {
			if _, given := auth[key]; given {
				auth[key] = ""
			}
		}
		return copied
	}
	return documents{values: without(d.values), secrets: without(d.secrets), infraSecrets: without(d.infraSecrets)}
}
