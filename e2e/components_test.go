//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// TestMatrixComponents brings components of the user's own into a management cluster: from a repository over http
// with a login, over https with a private authority, over ssh, from a local folder with a Helm release, and charts
// from a Helm repository and a registry. A later commit arrives. A wrong token is reported with its repository.
func TestMatrixComponents(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	known := newLogin()
	watchArguments(t, known.password)
	apps, secure, keyed := newRepository(t, component("apps")), newRepository(t, component("secure")),
		newRepository(t, component("keyed"))
	for file, text := range component("fleet") {
		apps.write(t, file, string(text))
	}
	for _, r := range []repository{apps, secure, keyed} {
		r.write(t, "chart/Chart.yaml", "apiVersion: v2\nname: small\nversion: 1.0.0\n")
		r.write(t, "chart/templates/text.yaml", configMap("local", "{{ .Values.text }}"))
		r.push(t, "first")
	}
	address := gitServer(t, newDoor(known), apps.root)
	secureAddress, authority := secureGit(t, newDoor(known), secure.root)
	keys := sshServer(t, gateway(t), "git", gitOf(keyed.root))
	charts, inRegistry := helmRepository(t, known, "charted"), chartRegistry(t, known, "packed")
	given := func(password string) string {
		return valuesFile(t, map[string]any{
			"git_repo_templates": map[string]any{
				"apps": map[string]any{"url": "http://" + address + "/" + apps.name, "auth": map[string]any{
					"username": known.user, "password": password, "allow_http": true}},
				"secure": map[string]any{"url": "https://" + secureAddress + "/" + secure.name, "ca": authority,
					"auth": map[string]any{"username": known.user, "password": known.password}},
				"keyed": map[string]any{"url": "ssh://git@" + keys.address + "/" + keyed.name, "auth": map[string]any{
					"ssh_private_key": keys.key, "known_hosts": keys.knownHosts}}},
			"components": map[string]any{"apps": own("apps"), "secure": own("secure"), "keyed": own("keyed"),
				"fleet":   map[string]any{"enabled": "management-only", "repo": "apps", "path": "./fleet"},
				"local":   map[string]any{"enabled": "management-only", "path": "./kustomize-components/local"},
				"tenant":  map[string]any{"enabled": "workload-only", "path": "./kustomize-components/tenant"},
				"charted": charted("charted", charts, known), "packed": charted("packed", inRegistry, known)}})
	}
	folder := t.TempDir()
	write(t, filepath.Join(folder, "local", "kustomization.yaml"), "apiVersion: kustomize.config.k8s.io/v1beta1\n"+
		"kind: Kustomization\nresources: [release.yaml]\n")
	write(t, filepath.Join(folder, "local", "release.yaml"), "apiVersion: helm.toolkit.fluxcd.io/v2\n"+
		"kind: HelmRelease\nmetadata: {name: local, namespace: flux-system}\nspec:\n  interval: 10m\n  chart:\n"+
		"    spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: apps}}\n  values: {text: first}\n")
	for file, text := range component("tenant") {
		write(t, filepath.Join(folder, file), string(text))
	}
	args := []string{"--bundle", l.bundle, "--components", folder}

	wrong := given("not-" + known.password)
	check := append([]string{"check", environmentName, "--online", "--values", wrong}, args...)
	if code, said := l.run(t, check...); code != 41 || !strings.Contains(said, "GitRepository/apps") {
		t.Errorf("check --online with a wrong token ended with %d, want 41 and the repository:\n%s", code, said)
	}
	up := append([]string{"up", environmentName}, args...)
	if code, _ := l.run(t, append(up, "--values", given(known.password))...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	for _, name := range []string{"apps", "secure", "keyed", "local", "charted", "packed"} {
		if got := management.text(t.Context(), name); got != "first" {
			t.Errorf("component %s has %q", name, got)
		}
	}
	management.managesItself(t)
	t.Run("a later commit arrives", func(t *testing.T) {
		apps.write(t, "apps/text.yaml", configMap("apps", "second"))
		management.applies(t, "apps", "apps", apps.push(t, "second"))
		if got := management.text(t.Context(), "apps"); got != "second" {
			t.Errorf("the component has %q, want what the commit says", got)
		}
	})
	t.Run("a workload cluster gets its own", func(t *testing.T) {
		values := valuesFile(t, map[string]any{
			"git_repo_templates": map[string]any{"apps": map[string]any{"url": "http://" + address + "/" + apps.name,
				"auth": map[string]any{"username": known.user, "password": known.password, "allow_http": true}}},
			"components": map[string]any{"apps": forWorkload(own("apps")),
				"charted": forWorkload(charted("charted", charts, known)),
				"tenant":  forWorkload(map[string]any{"path": "./kustomize-components/tenant"})}})
		l.componentsInWorkload(t, values)
		l.workloadFromRepository(t, apps, values)
	})
	t.Run("a wrong token ends up with the repository's name", func(t *testing.T) {
		o := l.up(t, known.password, nil, "--components", folder, "--values", wrong)
		if o.exitCode != 50 || !strings.Contains(o.all, "GitRepository/apps") {
			t.Errorf("up ended with %d, want 50 and the repository:\n%s", o.exitCode, o.all)
		}
	})
	cleanup(t, l)
}

// component is a folder of a repository with one ConfigMap.
func component(name string) content.Tree {
	return content.Tree{
		name + "/kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" +
			"resources: [text.yaml]\n"),
		name + "/text.yaml": []byte(configMap(name, "first"))}
}

func configMap(name, text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e2e-" + name + ", namespace: flux-system}\n" +
		"data: {text: \"" + text + "\"}\n"
}

func own(name string) map[string]any {
	return map[string]any{"enabled": "management-only", "repo": name, "path": "./" + name}
}

func (c cluster) text(ctx context.Context, name string) string {
	found := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "e2e-" + name}}
	if c.Get(ctx, client.ObjectKeyFromObject(found), found) != nil {
		return ""
	}
	return found.Data["text"]
}

// secureGit is gitServer over https. It returns host:port and the authority of its certificate.
func secureGit(t *testing.T, d *door, root string) (address, authority string) {
	t.Helper()
	pem, certificate := signedFor(t, net.ParseIP(gateway(t)))
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = &cgi.Handler{Path: filepath.Join(git(t, root, "--exec-path"), "git-http-backend"),
		Env: append(gitEnvironment(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1")}
	serveOn(t, tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}}), d.before(handler))
	return listener.Addr().String(), string(pem)
}

// valuesFile writes values into a file for --values.
func valuesFile(t *testing.T, values map[string]any) string {
	t.Helper()
	text, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	write(t, file, string(text))
	return file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
