//go:build integration

package pivot_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// kill says at which of its writes, counted from 1 on both sides together, a process that pivots is killed.
type kill struct {
	Write int
	After bool // the API server has carried it out
}

// job is what a process of its own does: one pivot, as `up` does it.
type job struct {
	Source, Target string // kubeconfig files
	Namespace, Dir string
	Kill           kill // the zero value lets it live
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
	var writes atomic.Int64
	source, err := j.side(j.Source, &writes)
	if err != nil {
		return err
	}
	target, err := j.side(j.Target, &writes)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	scope := pivot.Scope{Namespace: j.Namespace, Cluster: fixture.Cluster}
	result, err := pivot.Run(ctx, pivot.Input{Source: source, Target: target, Scope: scope,
		BackupDir: j.Dir, Flux: fileFlux(j.Dir), Move: capi.Move, Now: func() time.Time { return clock(j.Dir) }})
	if result.Already {
		var backup string
		if backup, err = pivot.Unverified(j.Dir, scope.Cluster); backup != "" {
			err = pivot.VerifyBackup(ctx, target, scope, backup)
		}
	}
	return errors.Join(err, os.WriteFile(filepath.Join(j.Dir, "writes"), []byte(strconv.FormatInt(writes.Load(), 10)), 0o600))
}

// fileFlux is a folder that holds a file as long as Flux is suspended: that outlives a process, as the real suspension does.
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

func (j job) side(path string, writes *atomic.Int64) (pivot.Side, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return pivot.Side{}, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		return pivot.Side{}, err
	}
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return killer{next, writes, j.Kill} })
	c, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	return pivot.Side{Client: c, Config: config, Kubeconfig: path}, err
}

// killer kills its process with the signal that nobody can catch.
type killer struct {
	next   http.RoundTripper
	writes *atomic.Int64
	at     kill
}

func (k killer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return k.next.RoundTrip(r)
	}
	mine := k.writes.Add(1) == int64(k.at.Write)
	if mine && !k.at.After {
		k.die()
	}
	response, err := k.next.RoundTrip(r)
	if mine {
		k.die()
	}
	return response, err
}

func (killer) die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it takes effect
}

// start runs a job and returns whether it was killed.
func (j job) start(t *testing.T) (killed bool) {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	output, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	t.Fatalf("%+v: %v\n%s", j.Kill, err, output)
	return false
}

// TestKilled kills a pivot at writes that a seed draws, half of the runs that finish it too, and sees that the
// last one ends with all of it on the target as it was, active, and nothing at the source. CLUSTER_INIT_TEST_SEED replays a seed;
// CLUSTER_INIT_TEST_ALL=1 kills at every write.
func TestKilled(t *testing.T) {
	files := t.TempDir()
	j := job{Source: filepath.Join(files, "source"), Target: filepath.Join(files, "target")}
	for path, kubeconfig := range map[string][]byte{j.Source: servers.source.Kubeconfig(), j.Target: servers.target.Kubeconfig()} {
		if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var total int
	t.Run("undisturbed", func(t *testing.T) {
		j := j.in(t)
		if j.start(t) {
			t.Fatal("killed")
		}
		j.check(t)
		text, err := os.ReadFile(filepath.Join(j.Dir, "writes"))
		if err != nil {
			t.Fatal(err)
		}
		if total, err = strconv.Atoi(string(text)); err != nil {
			t.Fatal(err)
		}
	})
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("CLUSTER_INIT_TEST_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d writes, seed %d", total, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, first := range draw(random, total) {
		second := kill{}
		if random.IntN(2) == 0 {
			second = kill{Write: 1 + random.IntN(total), After: random.IntN(2) == 0}
		}
		t.Run(fmt.Sprintf("write-%d-%t-then-%d-%t", first.Write, first.After, second.Write, second.After), func(t *testing.T) {
			t.Parallel()
			j := j.in(t)
			for _, at := range []kill{first, second, {}} {
				j.Kill = at
				if !j.start(t) {
					break
				}
			}
			j.check(t)
		})
	}
}

// draw returns every kill, or a sample of 40, fewer under the race detector.
func draw(random *rand.Rand, total int) []kill {
	var all []kill
	for write := 1; write <= total; write++ {
		all = append(all, kill{write, false}, kill{write, true})
	}
	if os.Getenv("CLUSTER_INIT_TEST_ALL") != "" {
		return all
	}
	random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	sample := 40
	if underRace { // it sees nothing of what other processes do
		sample = 10
	}
	return all[:min(sample, len(all))]
}

// in gives a job a namespace of its own, filled with the fixture at the source.
func (j job) in(t *testing.T) job {
	t.Helper()
	s := newStage(t)
	j.Namespace, j.Dir = s.Scope.Namespace, s.BackupDir
	return j
}

// check holds both sides against the fixture.
func (j job) check(t *testing.T) {
	t.Helper()
	scope := pivot.Scope{Namespace: j.Namespace, Cluster: fixture.Cluster}
	state, err := pivot.ReadState(t.Context(), pivot.Side{Client: servers.source.Client}, pivot.Side{Client: servers.target.Client}, scope)
	if err != nil {
		t.Fatal(err)
	}
	if state.Phase != pivot.Done || !state.Source.Empty() || state.Target.Cluster(fixture.Cluster).Paused {
		t.Errorf("%s %s: the source has %v", state.Phase, state.Stage, state.Source.Objects)
	}
	for _, want := range fixture.ManagementCluster() {
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(want.GroupVersionKind())
		if err := servers.target.Client.Get(t.Context(), client.ObjectKey{Namespace: j.Namespace, Name: want.GetName()}, got); err != nil {
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
	if left, err := filepath.Glob(filepath.Join(j.Dir, "*.unverified")); err != nil || len(left) > 0 {
		t.Errorf("not verified: %v, %v", left, err)
	}
}
