//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

// TestSourceOCI publishes the content into a user's registry that asks for a login, and has `up` refuse what it cannot
// read there. Clusters that read it to the end are TestMatrixSourceOCI's.
func TestSourceOCI(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	known := newLogin()
	address := registryServer(t, newDoor(known))
	prefix := "oci://" + address + "/platform"
	watchArguments(t, known.password)
	stranger := l
	stranger.environment = append(stranger.environment, "DOCKER_CONFIG="+t.TempDir())
	l.environment = append(l.environment, "DOCKER_CONFIG="+dockerConfig(t, address, known))

	publish := []string{"publish", "--insecure", "--bundle", l.bundle, prefix, environmentName}
	if code, _ := stranger.run(t, publish...); code != 41 {
		t.Errorf("publish without a login ended with %d, want 41", code)
	}
	code, flags := l.run(t, publish...)
	if code != 0 {
		t.Fatalf("publish ended with %d", code)
	}
	if code, again := l.run(t, publish...); code != 0 || again != flags {
		t.Errorf("publish again ended with %d and printed %q, want %q", code, again, flags)
	}
	from := append(strings.Fields(flags), "--source-insecure")
	t.Run("a source that cannot be read is reported before anything is made", func(t *testing.T) {
		stranger.refusedEarly(t, known.password, "401", from...)
		l.refusedEarly(t, known.password, "Check the address", append(from, "--source-chart-tag", "0.0.0-other")...)
		l.refusedEarly(t, known.password, "Check the address", append(from, "--source-url", prefix+"/other")...)
	})
}

// TestMatrixSourceOCI has the bootstrap cluster read a registry that wants a login, is interrupted, and goes to the end
// the next time: from the pivot on it is the management cluster that reads it.
func TestMatrixSourceOCI(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	known := newLogin()
	address := registryServer(t, newDoor(known))
	watchArguments(t, known.password)
	l.environment = append(l.environment, "DOCKER_CONFIG="+dockerConfig(t, address, known))
	from := l.published(t, "oci://"+address+"/platform")
	content, chart := valueAfter(from, "--source-content-tag")+"@sha256:", valueAfter(from, "--source-chart-tag")+
		"@sha256:"

	applied := func(e event.Event) bool {
		o := e.Object
		return e.Type == event.ObjectChanged && o.Kind == "Kustomization" && o.Name == "capi" && o.State == health.Ready
	}
	if o := l.up(t, known.password, applied, append(from, "--keep-bootstrap")...); !o.killed {
		t.Fatalf("up ended with %d before the component capi was ready:\n%s", o.exitCode, o.all)
	}
	kubeconfig, err := kind.New(func(string) {}).Kubeconfig(t.Context(), environmentName+"-bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	bootstrap := connect(t, file)
	bootstrap.sourceAt(t, "OCIRepository", flux.ReleaseName, content)
	bootstrap.sourceAt(t, "OCIRepository", flux.ChartSourceName, chart)
	bootstrap.appliedAt(t, content, "cert-manager", "capi")
	bootstrap.holdsOnlyIn(t, known.password, flux.ReleaseName+"-source")
	notInLogs(t, kind.NodeName(environmentName+"-bootstrap"), known.password)
	notInFolder(t, l.state, known.password)

	// The run was interrupted before the pivot, and its bootstrap cluster says so: no flag is needed.
	if code, _ := l.run(t, "cleanup", environmentName, "--yes"); code != 0 {
		t.Errorf("cleanup ended with %d", code)
	}
	l.nothingLeft(t)

	if o := l.up(t, known.password, nil, from...); o.exitCode != 0 {
		t.Fatalf("up ended with %d:\n%s", o.exitCode, o.all)
	}
	management := l.management(t)
	management.managesItself(t)
	management.sourceAt(t, "OCIRepository", flux.ReleaseName, content)
	management.sourceAt(t, "OCIRepository", flux.ChartSourceName, chart)
	management.appliedAt(t, content, "cert-manager", "capi", "cluster")
	management.holdsOnlyIn(t, known.password, flux.ReleaseName+"-source")
	notInFolder(t, l.state, known.password)
}

// published publishes the content with a login, and returns the flags of `up` that read it.
func (l lab) published(t *testing.T, prefix string) []string {
	t.Helper()
	code, flags := l.run(t, "publish", "--insecure", "--bundle", l.bundle, prefix, environmentName)
	if code != 0 {
		t.Fatalf("publish ended with %d", code)
	}
	return append(strings.Fields(flags), "--source-insecure")
}

// dockerConfig writes what `docker login` leaves, and returns its folder.
func dockerConfig(t *testing.T, address string, l login) string {
	t.Helper()
	auth := base64.StdEncoding.EncodeToString([]byte(l.user + ":" + l.password))
	content, err := json.Marshal(map[string]any{"auths": map[string]any{address: map[string]string{"auth": auth}}})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "config.json"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func valueAfter(args []string, flag string) string {
	for i, arg := range args {
		if arg == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
