//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// TestUpRKE2 is the whole of a user's way with RKE2, as a pipeline job with an engine that it reaches by TCP only:
// up, a run that fails and what it leaves, up again, cleanup.
func TestUpRKE2(t *testing.T) {
	l, folder := ciJob(t, rke2Name)
	const token = "glpat-ci-s3cret-0123456789"
	l.environment = append(l.environment, "GITLAB_USER=gitlab-ci-token", "GITLAB_TOKEN="+token)
	cleanBefore(t, l)
	up := []string{"up", l.name, "--bundle", l.bundle}
	kept := append(slices.Clone(up), "--keep-bootstrap") // for the artifacts of both clusters
	t.Run("nothing but the engine is reached", func(t *testing.T) { unreachable(t) })

	var before map[string]boot
	said := l.job(t, 0, func(line string) {
		if strings.Contains(line, ":pivot[collapsed=true]") {
			before = boots(t, l.name)
		}
	}, kept...)
	for _, want := range []string{"its published ports are reached at " + engineHost, "done in "} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	sectionsAreClosed(t, said)
	if _, err := os.Stat(filepath.Join(folder, "cluster-init-artifacts")); !os.IsNotExist(err) {
		t.Errorf("a run that went well left artifacts: %v", err)
	}
	management := l.management(t)
	if address, err := url.Parse(management.Config.Host); err != nil || address.Hostname() != engineHost {
		t.Errorf("the kubeconfig names %s, want the engine's machine (%v)", management.Config.Host, err)
	}
	t.Run("its kubeconfig is of use in the job", func(t *testing.T) { l.usedInTheJob(t) })
	t.Run("the pivot took along what clusterctl forgets", func(t *testing.T) { l.movedTemplates(t, management) })
	t.Run("no machine was bootstrapped again after the pivot", func(t *testing.T) {
		management.bootstrapped(t)
		if after := boots(t, l.name); len(before) == 0 || !maps.Equal(after, before) {
			t.Errorf("after the pivot %+v\nbefore it %+v", after, before)
		}
	})

	t.Run("no image comes from outside of the bundle", func(t *testing.T) {
		nothingFromOutside(t, l.name+"-bootstrap-control-plane")
		nothingFromOutside(t, controlPlane(t, l.name))
	})

	t.Run("a run that fails leaves its artifacts, and no secret", func(t *testing.T) {
		hidden := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "odd",
			Annotations: map[string]string{"token": token}},
			Data: map[string]string{"note": "https://oauth2:" + token + "@git.example.org, " +
				base64.StdEncoding.EncodeToString([]byte("user:"+token))}}
		if err := management.Create(t.Context(), hidden); err != nil {
			t.Fatal(err)
		}
		said := l.job(t, 50, nil, append(kept, "--timeout", "40s", "--set", "components.never.enabled=management-only",
			"--set", "components.never.path=./kustomize-components/capi", "--set",
			"components.never.spec.sourceRef.name=nowhere")...)
		sectionsAreClosed(t, said)
		if at := strings.LastIndex(said, "\nerror: "); at < strings.LastIndex(said, "section_end") ||
			!strings.Contains(said[at:], "Kustomization/never") {
			t.Errorf("the error is inside of a section, or does not name its cause")
		}
		artifacts := filepath.Join(folder, "cluster-init-artifacts")
		if !strings.Contains(said, "wrote artifacts of this run to "+artifacts) {
			t.Errorf("it does not say where its artifacts are")
		}
		secrets := append(l.secretsOfBothClusters(t, management), token)
		l.artifactsAreComplete(t, artifacts)
		holdNone(t, artifacts, secrets)
	})
	t.Run("what is not known is refused", func(t *testing.T) { l.refusesToGuess(t, kept) })
	t.Run("the next run names the component that would go, and completes once it may", func(t *testing.T) {
		if said := l.job(t, 34, nil, up...); !strings.Contains(said, "components.never: on -> off") {
			t.Error("it does not say that a component would go")
		}
		l.job(t, 0, nil, append(slices.Clone(up), "--allow-changes", "components.never")...)
		l.built(t, management)
	})
	t.Run("up again changes nothing", func(t *testing.T) { l.idle(t, management, up) })
	t.Run("cleanup shows and deletes", func(t *testing.T) { cleanup(t, l) })
}

// unreachable proves that the job's network is as narrow as it shall be: of two ports on this machine it reaches the
// one on the cable only, not the one in a network of containers.
func unreachable(t *testing.T) {
	inside := docker(t, "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	for address, want := range map[string]bool{engineHost: true, inside: false} {
		listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err = exec.CommandContext(ctx, "ip", "netns", "exec", jobNamespace, "bash", "-c", "exec 3<>/dev/tcp/"+address+
			"/"+port).Run()
		if (err == nil) != want {
			t.Errorf("%s is reached: %v, want %v (%v)", address, err == nil, want, err)
		}
	}
}

// job runs the CLI in the job, with its standard input closed as it is there, and returns all that it says, each line
// of which seen may look at when it is said.
func (l lab) job(t *testing.T, exitCode int, seen func(line string), args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	t.Logf("cluster-init %v", args)
	c := l.command(ctx, args...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewReader(out); ; {
		line, readErr := lines.ReadString('\n')
		said.WriteString(line)
		if seen != nil {
			seen(line)
		}
		if readErr != nil {
			break
		}
	}
	err = c.Wait()
	t.Logf("%s", said.String())
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	if got := c.ProcessState.ExitCode(); got != exitCode {
		t.Fatalf("exit code %d, want %d", got, exitCode)
	}
	return said.String()
}

// sectionsAreClosed fails the test unless each of GitLab's sections ends where it shall.
func sectionsAreClosed(t *testing.T, log string) {
	t.Helper()
	open, count := "", 0
	for _, mark := range regexp.MustCompile(
		`section_(start|end):\d+:([a-z-]+)(\[collapsed=true\])?\r\x1b\[0K`).FindAllStringSubmatch(log, -1) {
		switch {
		case mark[1] == "start" && open == "":
			open = mark[2]
			count++
		case mark[1] == "end" && open == mark[2]:
			open = ""
		default:
			t.Errorf("section_%s of %s while %q is open", mark[1], mark[2], open)
		}
	}
	if open != "" || count < 10 {
		t.Errorf("%d sections, %q is left open", count, open)
	}
}

// usedInTheJob runs this test program once more, in the job's network, where it counts the nodes.
func (l lab) usedInTheJob(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "ip", "netns", "exec", jobNamespace, self)
	c.Env = append(os.Environ(), insideTheJob+"="+l.kubeconfig(l.name))
	if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("nodes answer")) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestMain runs the tests, or what usedInTheJob asks this program for.
func TestMain(m *testing.M) {
	kubeconfig := os.Getenv(insideTheJob)
	if kubeconfig == "" {
		os.Exit(m.Run())
	}
	if err := countNodes(context.Background(), kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// insideTheJob names the kubeconfig for countNodes.
const insideTheJob = "CLUSTER_INIT_E2E_INSIDE_THE_JOB"

// countNodes prints how many nodes the cluster of a kubeconfig file has. TestUpRKE2 runs it in the job's network.
func countNodes(ctx context.Context, kubeconfig string) error {
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return err
	}
	c, err := kube.Connect("management", content, clientgoscheme.Scheme)
	if err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return err
	}
	if len(nodes.Items) == 0 {
		return errors.New("the cluster has no nodes")
	}
	fmt.Printf("%d nodes answer\n", len(nodes.Items))
	return nil
}

// secretsOfBothClusters are the values of their Secrets that are long enough to be nothing else, and the credentials of
// their kubeconfigs.
func (l lab) secretsOfBothClusters(t *testing.T, management cluster) []string {
	t.Helper()
	kubeconfig, err := os.ReadFile(l.kubeconfig(l.name))
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := docker(t, "exec", l.name+"-bootstrap-control-plane", "kubectl",
		"--kubeconfig=/etc/kubernetes/admin.conf", "get", "secrets", "-A", "-o", "json")
	var list, others corev1.SecretList
	if err := json.Unmarshal([]byte(bootstrap), &list); err != nil {
		t.Fatal(err)
	}
	if err := management.List(t.Context(), &others); err != nil {
		t.Fatal(err)
	}
	var secrets []string
	for _, match := range regexp.MustCompile(`client-key-data: (\S+)`).FindAllStringSubmatch(string(kubeconfig), -1) {
		secrets = append(secrets, match[1])
	}
	for _, s := range append(list.Items, others.Items...) {
		for key, value := range s.Data {
			public := slices.Contains([]string{"ca.crt", "tls.crt", "username", "namespace", "auth-extra-groups",
				"description", "expiration"}, key)
			if text := strings.TrimSpace(string(value)); len(text) >= 16 && !public {
				secrets = append(secrets, text)
			}
			for _, block := range regexp.MustCompile(`PRIVATE KEY-----([^-]+)-----END`).FindAllStringSubmatch(
				string(value), -1) {
				for _, line := range strings.Fields(block[1]) {
					if len(line) >= 40 {
						secrets = append(secrets, line)
					}
				}
			}
		}
	}
	if len(secrets) < 20 {
		t.Errorf("only %d secrets in both clusters: this test looks in the wrong place", len(secrets))
	}
	return secrets
}

// artifactsAreComplete fails the test when a part is missing.
func (l lab) artifactsAreComplete(t *testing.T, folder string) {
	t.Helper()
	for _, pattern := range []string{
		"summary.txt", "events.jsonl", "docker/containers.txt", "docker/" + l.name + "-lb.log", "docker/" + l.name +
			"-bootstrap-control-plane.journal.log",
		"docker/" + l.name + "-control-plane-*.journal.log", "docker/" + l.name + "-registry.inspect.yaml",
		"*/secrets.yaml", "*/objects/pods.yaml", "*/objects/nodes.yaml", "*/objects/events.yaml",
		"*/objects/kustomizations.kustomize.toolkit.fluxcd.io.yaml",
		"*/logs/flux-system.kustomize-controller-*.log", "*/logs/capi-system.*.log", "*/logs/capd-system.*.log",
		"management/objects/clusters.cluster.x-k8s.io.yaml",
		"management/objects/devmachines.infrastructure.cluster.x-k8s.io.yaml",
	} {
		want := 1
		if strings.HasPrefix(pattern, "*") {
			want = 2 // both clusters
		}
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(found) < want {
			t.Errorf("%s: %d files, want %d (%v)", pattern, len(found), want, err)
		}
	}
	summary, err := os.ReadFile(filepath.Join(folder, "summary.txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", summary)
	for _, want := range []string{"exit code:  50", "component/stuck", "Kustomization/never", "hint:"} {
		if !strings.Contains(string(summary), want) {
			t.Errorf("the summary does not say %q", want)
		}
	}
}

// holdNone fails the test for each file below folder that others may read, or that holds one of the secrets.
func holdNone(t *testing.T, folder string, secrets []string) {
	t.Helper()
	size := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		if entry.IsDir() {
			return nil
		}
		content, err := os.ReadFile(path)
		size += len(content)
		for _, secret := range secrets {
			escaped, _ := json.Marshal(secret)
			for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)),
				strings.Trim(string(escaped), `"`), url.QueryEscape(secret)} {
				if at := bytes.Index(content, []byte(form)); at >= 0 {
					t.Errorf("%s holds a secret of %d characters at %d", path, len(secret), at)
					return nil
				}
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d secrets were looked for in %d bytes", len(secrets), size)
}
