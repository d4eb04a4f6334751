//go:build e2e

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

// watchArguments looks at the arguments of all processes of this machine, those in containers included, five times a
// second until the test ends, and fails the test when the secret is among them.
func watchArguments(t *testing.T, secret string) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan string, 1)
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		looks := map[string]int{}
		for {
			select {
			case <-stop:
				done <- ""
				return
			case <-tick.C:
				if found := processWith(looks, secret); found != "" {
					done <- found
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		if found := <-done; found != "" {
			t.Errorf("the secret is an argument of a process: %s", found)
		}
	})
}

// processWith looks at the processes at which it did not look often enough yet: one may become another program soon
// after its start, but not for ever.
func processWith(looks map[string]int, secret string) string {
	const enough = 5
	processes, _ := os.ReadDir("/proc")
	alive := make(map[string]bool, len(processes))
	for _, p := range processes {
		alive[p.Name()] = true
		if looks[p.Name()] >= enough {
			continue
		}
		looks[p.Name()]++
		// a process that ended meanwhile has none
		arguments, err := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline"))
		if err == nil && bytes.Contains(arguments, []byte(secret)) {
			return strings.ReplaceAll(string(arguments), "\x00", " ")
		}
	}
	maps.DeleteFunc(looks, func(process string, _ int) bool { return !alive[process] })
	return ""
}

// notInFolder fails the test for each file below folder that holds the secret.
func notInFolder(t *testing.T, folder, secret string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && holds(content, secret) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// notInLogs fails the test when a container of the node wrote the secret to its log.
func notInLogs(t *testing.T, node, secret string) {
	t.Helper()
	c := exec.Command("docker", "exec", "-i", node, "grep", "-rlF", "-f", "-", "/var/log/pods")
	c.Stdin = strings.NewReader(secret) // not an argument: those are watched
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Errorf("searching the logs of %s: %v", node, err)
	}
	if len(out) > 0 {
		t.Errorf("logs in %s hold the secret: %s", node, out)
	}
}

// holdsOnlyIn fails the test when the secret is not in the Secrets named, all in Flux's namespace, or is anywhere else.
func (c cluster) holdsOnlyIn(t *testing.T, secret string, names ...string) {
	t.Helper()
	var want []string
	for _, name := range names {
		want = append(want, "Secret "+flux.Namespace+"/"+name)
	}
	slices.Sort(want)
	if got := c.holders(t, secret); !slices.Equal(got, want) {
		t.Errorf("the secret is in %q, want %q", got, want)
	}
}

// holdsInSecretsOnly fails the test when the secret is not in each of the Secrets named NAMESPACE/NAME, or is in an
// object of another kind.
func (c cluster) holdsInSecretsOnly(t *testing.T, secret string, names ...string) {
	t.Helper()
	got := c.holders(t, secret)
	for _, name := range names {
		if !slices.Contains(got, "Secret "+name) {
			t.Errorf("Secret %s does not hold the secret: %q", name, got)
		}
	}
	for _, holder := range got {
		if !strings.HasPrefix(holder, "Secret ") {
			t.Errorf("%s holds the secret", holder)
		}
	}
}

// holders returns which objects of the cluster hold the secret, as "KIND NAMESPACE/NAME", sorted.
func (c cluster) holders(t *testing.T, secret string) []string {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := client.ServerPreferredResources()
	if err != nil {
		t.Fatalf("asking what kinds there are: %v", err)
	}
	found := map[string]bool{}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range list.APIResources {
			if !strings.Contains(strings.Join(kind.Verbs, ","), "list") {
				continue
			}
			objects, err := c.Dynamic.Resource(group.WithResource(kind.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Errorf("listing %s: %v", kind.Name, err)
				continue
			}
			for _, o := range objects.Items {
				if objectHolds(t, o, secret) {
					found[kind.Kind+" "+o.GetNamespace()+"/"+o.GetName()] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func objectHolds(t *testing.T, o unstructured.Unstructured, secret string) bool {
	t.Helper()
	content, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	if holds(content, secret) {
		return true
	}
	data, _, _ := unstructured.NestedStringMap(o.Object, "data")
	for _, value := range data { // of Secrets
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && holds(decoded, secret) {
			return true
		}
	}
	return false
}

// holds finds the secret as it is and in base64 by itself.
func holds(content []byte, secret string) bool {
	return bytes.Contains(content, []byte(secret)) ||
		bytes.Contains(content, []byte(base64.StdEncoding.EncodeToString([]byte(secret))))
}
