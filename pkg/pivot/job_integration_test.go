//go:build integration

package pivot_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// job is what a process of its own does: one pivot, as `up` does it, or one restore.
type job struct {
	Source, Target string // kubeconfig files
	Namespace, Dir string
	Backup         string // restored into the target, in place of a pivot; "" for none
	Records        string // folder of the backups; "" for Dir
	Strike         strike // the zero value lets it live
}

const jobVariable = "CLUSTER_INIT_TEST_PIVOT"

// runJob is that process. It ends with 0 when the pivot is done.
func runJob(text string) int {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := j.pivot(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (j job) pivot() error {
	s := &striker{at: j.Strike}
	source, err := j.side(j.Source, s)
	if err != nil {
		return err
	}
	target, err := j.side(j.Target, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	if j.Backup != "" {
		return errors.Join(j.restore(ctx, target), j.wrote(s))
	}
	scope := clusters.Scope{Namespace: j.Namespace, Cluster: fixture.Cluster}
	result, err := pivot.Run(ctx, pivot.Input{Source: source, Target: target, Scope: scope,
		BackupDir: j.records(), Flux: fileFlux(j.Dir), Move: capi.Move,
		Now: func() time.Time { return clock(j.records()) }})
	if result.Already && err == nil {
		var backup string
		if backup, err = record.Newest(j.records(), scope.Cluster); backup != "" {
			err = pivot.VerifyBackup(ctx, target, scope, backup)
		}
	}
	return errors.Join(err, j.wrote(s))
}

func (j job) records() string { return cmp.Or(j.Records, j.Dir) }

// wrote notes how many writes there were.
func (j job) wrote(s *striker) error {
	return os.WriteFile(filepath.Join(j.Dir, "writes"), []byte(strconv.FormatInt(s.writes.Load(), 10)), 0o600)
}

// fileFlux is a folder that holds a file as long as Flux is suspended: that outlives a process, as the real suspension
// does.
type fileFlux string

func (f fileFlux) path() string { return filepath.Join(string(f), "suspended") }

func (f fileFlux) Suspend(context.Context) error { return os.WriteFile(f.path(), nil, 0o600) }

func (f fileFlux) Resume(context.Context) error { return os.Remove(f.path()) }

func (f fileFlux) Stands(context.Context) (bool, error) {
	_, err := os.Stat(f.path())
	return err == nil, nil
}

// clock gives each backup of a folder a second of its own.
func clock(dir string) time.Time {
	entries, err := os.ReadDir(dir)
	if err != nil {
		panic(err) // the test made it
	}
	return time.Date(2026, 1, 2, 3, 4, len(entries), 0, time.UTC)
}

func (j job) side(path string, s *striker) (clusters.Side, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return clusters.Side{}, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		return clusters.Side{}, err
	}
	config.QPS = -1
	seen := &struckSide{striker: s}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return connection{seen, next} })
	scheme, err := capi.NewScheme()
	if err != nil {
		return clusters.Side{}, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	return clusters.Side{Client: c, Config: config, Kubeconfig: path}, err
}

// newJob returns a job between the two API servers, without a namespace.
func newJob(t *testing.T) job {
	t.Helper()
	files := t.TempDir()
	j := job{Source: filepath.Join(files, "source"), Target: filepath.Join(files, "target")}
	for path, kubeconfig := range map[string][]byte{j.Source: servers.source.Kubeconfig(),
		j.Target: servers.target.Kubeconfig()} {
		if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// command is the process that carries a job out.
func (j job) command(t *testing.T) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	return cmd
}

// start runs a job and reports whether it finished. A failure that no injected fault explains fails the test.
func (j job) start(t *testing.T) (done bool) {
	t.Helper()
	output, err := j.command(t).CombinedOutput()
	if err == nil {
		return true
	}
	exit, is := errors.AsType[*exec.ExitError](err)
	if !is || !j.Strike.explains(exit.Sys().(syscall.WaitStatus)) {
		t.Fatalf("%+v: %v\n%s", j.Strike, err, output)
	}
	return false
}

// grown is a cluster of three control-plane and three worker machines.
func grown() []*unstructured.Unstructured { return fixture.WithMachines(3, 3) }

// moved returns what a job moves: also another owner's Cluster, which the move pauses too.
func moved() []*unstructured.Unstructured { return append(grown(), tenant()) }

// in gives a job a namespace of its own, filled with the fixture at the source.
func (j job) in(t *testing.T) job {
	t.Helper()
	s := newStageOf(t, moved())
	j.Namespace, j.Dir = s.Scope.Namespace, s.BackupDir
	return j
}

// check holds both sides against the fixture.
func (j job) check(t *testing.T) {
	t.Helper()
	scope := clusters.Scope{Namespace: j.Namespace, Cluster: fixture.Cluster}
	state, err := pivot.ReadState(t.Context(), clusters.Side{Client: servers.source.Client},
		clusters.Side{Client: servers.target.Client}, scope)
	if err != nil {
		t.Fatal(err)
	}
	if state.Phase != pivot.Done || !state.Source.Empty() {
		t.Errorf("%s %s: the source has %v", state.Phase, state.Stage, state.Source.Objects)
	}
	for _, c := range state.Target.Clusters {
		if c.Paused || c.Annotations[owned.PivotAnnotation] != "" {
			t.Errorf("%s is paused: %t, with %v", c, c.Paused, c.Annotations)
		}
	}
	for _, want := range moved() {
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(want.GroupVersionKind())
		if err := servers.target.Client.Get(t.Context(), client.ObjectKey{Namespace: j.Namespace, Name: want.GetName()},
			got); err != nil {
			t.Error(err)
			continue
		}
		if text, is := want.Object["stringData"].(map[string]any); is {
			data := map[string]any{}
			for key, value := range text {
				data[key] = base64.StdEncoding.EncodeToString([]byte(value.(string)))
			}
			want.Object["data"] = data
		}
		for _, field := range []string{"spec", "data"} {
			was, _ := json.Marshal(want.Object[field])
			is, _ := json.Marshal(got.Object[field])
			if string(was) != string(is) {
				t.Errorf("%s %s: %s was %s, and is %s", want.GetKind(), want.GetName(), field, was, is)
			}
		}
		if owners := got.GetOwnerReferences(); len(owners) != len(want.GetOwnerReferences()) {
			t.Errorf("%s %s: owners are %v", want.GetKind(), want.GetName(), owners)
		}
	}
	if left, err := filepath.Glob(filepath.Join(j.records(), "*.unverified")); err != nil || len(left) > 0 {
		t.Errorf("not verified: %v, %v", left, err)
	}
}
