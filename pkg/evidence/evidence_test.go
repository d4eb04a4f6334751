package evidence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// failed is a run that failed and told a secret.
func failed() Run {
	cause := fault.Retryable(errors.New("waiting for the components: not ready: Kustomization/capi with hunter22"),
		fault.ComponentStuck, "Look at the first one.\nThen again.")
	return Run{
		Command: "cluster-init up demo", Version: "v1.2.3", Err: fmt.Errorf("management-cluster: %w", cause),
		ExitCode: 50, Elapsed: 90 * time.Second,
		Events: []byte(`{"type":"run-started","time":"2026-01-02T03:04:05Z"}` + "\n" +
			`{"type":"progress","message":"with \"hunter22\"","elapsedNanoseconds":1500000000}` + "\n" + "no JSON\n"),
	}
}

func TestWhatIsLeftOfARun(t *testing.T) {
	const pods = `{"kind":"PodList","apiVersion":"v1","items":[
{"metadata":{"namespace":"flux-system","name":"source"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"manager","restartCount":1,"state":{"running":{}}}]}},
{"metadata":{"namespace":"capd-system","name":"capd","labels":{"cluster.x-k8s.io/provider":"infrastructure-docker"}},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"manager","state":{"running":{}}}]}},
{"metadata":{"namespace":"default","name":"well"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"a","state":{"running":{}}}]}},
{"metadata":{"namespace":"default","name":"done"},"status":{"phase":"Succeeded","containerStatuses":[{"name":"a","state":{"terminated":{}}}]}},
{"metadata":{"namespace":"default","name":"ill"},"status":{"phase":"Pending","initContainerStatuses":[{"name":"init","state":{"terminated":{}}}],"containerStatuses":[{"name":"a","state":{"waiting":{}}}]}}]}`
	api := fakeAPI(t, "bootstrap", map[string]string{
		"/api/v1/secrets": `{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"namespace":"a","name":"b","annotations":{"x":"y"}},"type":"Opaque","data":{"password":"Y2x1c3RlcnNlY3JldA=="}}]}`,
		"/api/v1/pods":    pods,
		"/api/v1/namespaces/flux-system/pods/source/log":          "from a log: clustersecret\n",
		"/api/v1/namespaces/flux-system/pods/source/log?previous": "it died\n",
		"/api/v1/namespaces/default/pods/ill/log":                 "ill\n",
		"/api/v1/nodes":                     `{"kind":"NodeList","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","annotations":{"of":"clustersecret"}}}]}`,
		"/apis":                             `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"example.cluster.x-k8s.io","versions":[{"groupVersion":"example.cluster.x-k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.cluster.x-k8s.io/v1","version":"v1"}},{"name":"example.org","versions":[{"groupVersion":"example.org/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.org/v1","version":"v1"}}]}`,
		"/apis/example.cluster.x-k8s.io/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.cluster.x-k8s.io/v1","resources":[{"name":"widgets","namespaced":true,"kind":"Widget","verbs":["list"]},{"name":"widgets/status","kind":"Widget","verbs":["get"]}]}`,
		"/apis/example.org/v1":              `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.org/v1","resources":[{"name":"others","namespaced":true,"kind":"Other","verbs":["list"]}]}`,
		"/apis/example.cluster.x-k8s.io/v1/widgets": `{"kind":"WidgetList","apiVersion":"example.cluster.x-k8s.io/v1","items":[{"apiVersion":"example.cluster.x-k8s.io/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"token":"unknown"}}]}`,
	})
	dir := filepath.Join(t.TempDir(), "new", "artifacts")
	c := Collector{Dir: dir, Redactor: redact.New("hunter22"), Clusters: clusters(api), Engine: fakeEngine{},
		Cluster: "demo"}
	if err := c.Collect(t.Context(), failed()); err != nil {
		t.Fatal(err)
	}
	found := files(t, dir)
	want := []string{
		"bootstrap/logs/default.ill.init.log", "bootstrap/logs/flux-system.source.manager.log",
		"bootstrap/logs/flux-system.source.manager.previous.log",
		"bootstrap/objects/nodes.yaml", "bootstrap/objects/pods.yaml",
		"bootstrap/objects/widgets.example.cluster.x-k8s.io.yaml", "bootstrap/secrets.yaml",
		"docker/containers.txt", "docker/demo-machine.inspect.yaml", "docker/demo-machine.journal.log",
		"docker/demo-machine.log",
		"docker/demo-registry.inspect.yaml", "docker/demo-registry.log", "events.jsonl", "summary.txt",
	}
	if got := names(found); !slices.Equal(got, want) {
		t.Errorf("files %q\nwant  %q", got, want)
	}
	for name, content := range found {
		for _, secret := range []string{"hunter22", "clustersecret", "Y2x1c3RlcnNlY3JldA", "unknown"} {
			if strings.Contains(content, secret) {
				t.Errorf("%s holds %q:\n%s", name, secret, content)
			}
		}
	}
	golden.Check(t, "summary.txt", []byte(found["summary.txt"]))
	golden.Check(t, "secrets.yaml", []byte(found["bootstrap/secrets.yaml"]))
	golden.Check(t, "inspect.yaml", []byte(found["docker/demo-machine.inspect.yaml"]))
	golden.Check(t, "events.jsonl", []byte(found["events.jsonl"]))
}

// One part that hangs or fails costs nothing but itself, and the summary says so.
func TestWhatCannotBeCollectedIsTold(t *testing.T) {
	hangs := fakeAPI(t, "management", map[string]string{"/api/v1/secrets": "hang", "/api/v1/pods": "hang"})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "artifacts")
	c := Collector{Dir: dir, Redactor: redact.New("hunter22"), Engine: fakeEngine{broken: true}, Cluster: "demo",
		Clusters: func(context.Context) ([]*kube.Cluster, error) {
			return []*kube.Cluster{hangs}, errors.New("the bootstrap cluster does not answer")
		}}
	start := time.Now()
	if err := c.Collect(ctx, failed()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	found := files(t, dir)
	if got := names(found); !slices.Equal(got, []string{"events.jsonl", "summary.txt"}) {
		t.Errorf("files %q", got)
	}
	for _, want := range []string{"the bootstrap cluster does not answer", "Secrets of the management cluster",
		"objects and pod logs of the management cluster: left out, as its Secrets are not known",
		"error: management-cluster: waiting"} {
		if !strings.Contains(found["summary.txt"], want) {
			t.Errorf("the summary does not say %q:\n%s", want, found["summary.txt"])
		}
	}
	c.Clusters = nil
	if err := c.Collect(t.Context(), failed()); err != nil {
		t.Fatal(err)
	}
	if text := files(t, dir)["summary.txt"]; !strings.Contains(text, "the engine is away, said ***") {
		t.Errorf("the summary does not tell of the engine, or tells too much:\n%s", text)
	}
}

// What is secret is known from the Secrets: without them no line of a log or an object can be trusted.
func TestWithoutItsSecretsNothingOfAClusterIsWritten(t *testing.T) {
	refuses := fakeAPI(t, "management", map[string]string{"/api/v1/secrets": "refuse",
		"/api/v1/nodes": `{"kind":"NodeList","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}]}`})
	dir := filepath.Join(t.TempDir(), "artifacts")
	c := Collector{Dir: dir, Redactor: redact.New(), Cluster: "demo", Engine: fakeEngine{},
		Clusters: func(context.Context) ([]*kube.Cluster, error) { return []*kube.Cluster{refuses}, nil }}
	if err := c.Collect(t.Context(), failed()); err != nil {
		t.Fatal(err)
	}
	found := files(t, dir)
	for _, name := range names(found) {
		if strings.HasPrefix(name, "management/") || strings.HasSuffix(name, ".log") {
			t.Errorf("%s was written", name)
		}
	}
	if found["docker/demo-machine.inspect.yaml"] == "" {
		t.Error("what docker inspect says is missing")
	}
	for _, want := range []string{"objects and pod logs of the management cluster: left out, as its Secrets are not " +
		"known",
		"logs of containers and journals of machines: left out, as Secrets of the management cluster are not known"} {
		if text := found["summary.txt"]; !strings.Contains(text, want) {
			t.Errorf("the summary does not say %q:\n%s", want, text)
		}
	}
}

// A cluster that should answer and does not has unknown Secrets: a container's log may hold one of them.
func TestWithoutAnAnswerNoLogIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "artifacts")
	c := Collector{Dir: dir, Redactor: redact.New(), Cluster: "demo", Engine: fakeEngine{},
		Clusters: func(context.Context) ([]*kube.Cluster, error) { return nil, errors.New("no route to host") }}
	if err := c.Collect(t.Context(), failed()); err != nil {
		t.Fatal(err)
	}
	found := files(t, dir)
	want := []string{"docker/containers.txt", "docker/demo-machine.inspect.yaml", "docker/demo-registry.inspect.yaml",
		"events.jsonl", "summary.txt"}
	if got := names(found); !slices.Equal(got, want) {
		t.Errorf("files %q\nwant  %q", got, want)
	}
	for _, want := range []string{"objects and pod logs of a cluster: no route to host", "logs of containers and " +
		"journals of machines: left out, as Secrets of a cluster that does not answer are not known"} {
		if text := found["summary.txt"]; !strings.Contains(text, want) {
			t.Errorf("the summary does not say %q:\n%s", want, text)
		}
	}
}

// A log of one cluster may hold a Secret of the other one.
func TestWithoutTheSecretsOfBothClustersNoLogIsWritten(t *testing.T) {
	bootstrap := fakeAPI(t, "bootstrap", map[string]string{
		"/api/v1/secrets": `{"kind":"SecretList","apiVersion":"v1","items":[]}`,
		"/api/v1/pods":    `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"namespace":"flux-system","name":"source"},"status":{"containerStatuses":[{"name":"manager","state":{"running":{}}}]}}]}`,
		"/api/v1/namespaces/flux-system/pods/source/log": "s3cret-of-the-management-cluster\n",
	})
	refuses := fakeAPI(t, "management", map[string]string{"/api/v1/secrets": "refuse"})
	for name, test := range map[string]struct {
		clusters []*kube.Cluster
		err      error
		unknown  string
	}{
		"they cannot be read": {[]*kube.Cluster{bootstrap, refuses}, nil, "the management cluster"},
		"it does not answer": {[]*kube.Cluster{bootstrap}, errors.New("no route to host"),
			"a cluster that does not answer"},
		"there is no other one": {[]*kube.Cluster{bootstrap}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "artifacts")
			c := Collector{Dir: dir, Redactor: redact.New(), Cluster: "demo",
				Clusters: func(context.Context) ([]*kube.Cluster, error) { return test.clusters, test.err }}
			if err := c.Collect(t.Context(), failed()); err != nil {
				t.Fatal(err)
			}
			found := files(t, dir)
			if found["bootstrap/objects/pods.yaml"] == "" {
				t.Errorf("the objects of the bootstrap cluster are missing: %q", names(found))
			}
			if _, written := found["bootstrap/logs/flux-system.source.manager.log"]; written != (test.unknown == "") {
				t.Errorf("the log is written: %v", written)
			}
			says := "pod logs of the bootstrap cluster: left out, as Secrets of " + test.unknown + " are not known"
			if strings.Contains(found["summary.txt"], says) != (test.unknown != "") {
				t.Errorf("the summary does not say %q, or without a reason:\n%s", says, found["summary.txt"])
			}
		})
	}
}

// Only what is known to be ours is written over.
func TestCheckDir(t *testing.T) {
	cases := map[string]struct {
		files map[string]string
		ok    bool
	}{
		"no folder":              {nil, true},
		"an empty one":           {map[string]string{}, true},
		"an earlier run's":       {map[string]string{"summary.txt": title + "\n\nerror: x", "events.jsonl": ""}, true},
		"someone else's":         {map[string]string{"notes.txt": "mine"}, false},
		"someone else's summary": {map[string]string{"summary.txt": "mine"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "artifacts")
			if tc.files != nil {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for file, content := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := CheckDir(dir)
			if (err == nil) != tc.ok || err != nil && fault.CodeOf(err) != fault.Usage {
				t.Errorf("got %v", err)
			}
			collectErr := Collector{Dir: dir, Redactor: redact.New()}.Collect(t.Context(), failed())
			if (collectErr == nil) != tc.ok {
				t.Errorf("collecting: %v", collectErr)
			}
			if !tc.ok {
				for file, content := range tc.files {
					if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != content {
						t.Errorf("%s is touched: %q (%v)", file, got, err)
					}
				}
				return
			}
			if got := names(files(t, dir)); !slices.Equal(got, []string{"events.jsonl", "summary.txt"}) {
				t.Errorf("files %q", got)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(file); fault.CodeOf(err) != fault.Usage {
		t.Errorf("a file passes for a folder: %v", err)
	}
}
