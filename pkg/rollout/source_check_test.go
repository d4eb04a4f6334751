package rollout

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/source"
)

const (
	usedPath     = "./kustomize-components/cluster/x"
	template     = "kind: DevMachineTemplate\nspec: {template: {spec: {image: a}}}\n"
	templateFile = "kustomize-components/cluster/x/machine.yaml"
	atCommit     = "main@sha1:0123456789abcdef"
	proxyPath    = "/api/v1/namespaces/flux-system/services/http:source-controller:80/proxy/"
)

// repositoryWith is the archive of a repository whose chart knows these definitions. Empty means those in the same
// archive.
func repositoryWith(t *testing.T, known string, more ...[2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	if known == "" {
		all, err := definitions.Of(fstest.MapFS{templateFile: &fstest.MapFile{Data: []byte(template)}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := all.Encode()
		if err != nil {
			t.Fatal(err)
		}
		known = string(text)
	}
	files := append(slices.Clone(more), [2]string{templateFile, template}, [2]string{definitions.File, known})
	for _, file := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file[0], Mode: 0o600, Size: int64(len(file[1]))}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(file[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// sourceScene is a cluster whose source-controller does what a test says.
type sourceScene struct {
	cluster *kube.Cluster
	applied atomic.Int32 // GitRepositories
	other   atomic.Int32 // writes to anything but the candidate
	// fetch is called for each GitRepository that is applied, and sets its status.
	fetch func(*sourcev1.GitRepository)
	// serve answers for the artifact.
	serve    http.HandlerFunc
	patience time.Duration
	now      func() time.Time
}

func newSourceScene(t *testing.T) *sourceScene {
	t.Helper()
	s := &sourceScene{patience: time.Minute, now: time.Now}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, proxyPath) {
			t.Errorf("request for %s", r.URL.Path)
		}
		s.serve(w, r)
	}))
	t.Cleanup(server.Close)
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), flux.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	apply := func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption,
	) error {
		if err := c.Apply(ctx, o, options...); err != nil {
			return err
		}
		object, is := o.(interface {
			GetName() string
			GetKind() string
		})
		if !is || object.GetName() != source.CandidateName {
			s.other.Add(1)
		}
		if !is || object.GetKind() != sourcev1.GitRepositoryKind {
			return nil
		}
		repository := &sourcev1.GitRepository{}
		key := client.ObjectKey{Namespace: flux.Namespace, Name: source.CandidateName}
		if err := c.Get(ctx, key, repository); err != nil {
			return err
		}
		s.applied.Add(1)
		s.fetch(repository)
		return c.Status().Update(ctx, repository)
	}
	remove := func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
		return errors.Join(ctx.Err(), c.Delete(ctx, o, options...)) // the fake sends no request, which would fail
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&sourcev1.GitRepository{}).
		WithInterceptorFuncs(interceptor.Funcs{Apply: apply, Delete: remove}).Build()
	s.cluster = &kube.Cluster{Name: "management", Config: &rest.Config{Host: server.URL}, Client: api}
	return s
}

// holds has source-controller fetch an archive at once, and serve it.
func (s *sourceScene) holds(archive []byte) {
	s.fetch = func(r *sourcev1.GitRepository) { fetched(r, archive) }
	s.serve = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) }
}

// fetched is the status that source-controller writes.
func fetched(r *sourcev1.GitRepository, archive []byte) {
	r.Status.ObservedGeneration = r.Generation
	r.Status.LastHandledReconcileAt = r.Annotations[meta.ReconcileRequestAnnotation]
	r.Status.Artifact = &meta.Artifact{
		URL: "http://source-controller.flux-system.svc.cluster.local./a.tar.gz", Path: "a.tar.gz",
		Revision: atCommit, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(archive)), LastUpdateTime: metav1.Now(),
	}
	is(r, metav1.ConditionTrue, "Succeeded", "stored artifact")
}

func is(r *sourcev1.GitRepository, ready metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{
		Type: meta.ReadyCondition, Status: ready, Reason: reason, Message: message, ObservedGeneration: r.Generation,
	})
}

// check runs the check of a source with a login.
func (s *sourceScene) check(ctx context.Context, t *testing.T, path string) (*warnings, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	git := flux.GitSource{URL: "https://git.example.org/platform.git", Branch: "main"}
	candidate := source.Source{Kind: source.Git, Git: git, Username: "me", Password: "token"}.Candidate()
	said := &warnings{ear: newEar()}
	err := sourceCheck{cluster: s.cluster, objects: candidate, path: path, most: 1 << 20, heartbeat: time.Millisecond,
		interval: time.Millisecond, patience: s.patience, now: s.now}.run(ctx, said)
	for _, o := range []client.Object{&sourcev1.GitRepository{}, &corev1.Secret{}} {
		key := client.ObjectKey{Namespace: flux.Namespace, Name: source.CandidateName}
		if there := s.cluster.Get(t.Context(), key, o); client.IgnoreNotFound(there) != nil || there == nil {
			t.Errorf("%T %s is left: %v", o, key, there)
		}
	}
	if len(said.texts) > 0 && strings.Contains(said.texts[0], "delete the candidate") {
		t.Error(said.texts[0])
	}
	if s.other.Load() > 0 {
		t.Error("something else than the candidate was applied")
	}
	return said, err
}

// warnings is a reporter that keeps warnings.
type warnings struct {
	*ear
	texts []string
}

func (w *warnings) Warn(format string, args ...any) {
	w.texts = append(w.texts, fmt.Sprintf(format, args...))
}

func TestASourceWhoseChartKnowsItsDefinitionsPasses(t *testing.T) {
	s := newSourceScene(t)
	s.holds(repositoryWith(t, ""))
	said, err := s.check(t.Context(), t, usedPath)
	if err != nil || len(said.texts) > 0 || s.applied.Load() != 1 {
		t.Errorf("%v, warnings %q, applied %d times", err, said.texts, s.applied.Load())
	}
}

func TestASourceWithStaleDefinitionsIsRefused(t *testing.T) {
	s := newSourceScene(t)
	s.holds(repositoryWith(t, `{"`+usedPath+`": {"templates": "5944d9ff46c0bfcb"}}`))
	_, err := s.check(t.Context(), t, usedPath)
	if fault.CodeOf(err) != fault.EnvironmentInvalid || fault.CanRetry(err) {
		t.Fatal(err)
	}
	if !strings.Contains(err.Error(), atCommit) || !strings.Contains(err.Error(), usedPath) ||
		!strings.Contains(fault.HintOf(err), "Replace the content of "+definitions.File) {
		t.Errorf("%v\nhint: %s", err, fault.HintOf(err))
	}
}

// A definition in a folder of its own need not have a hash, and its templates then keep their names.
func TestADefinitionThatTheChartDoesNotNameIsAWarning(t *testing.T) {
	s := newSourceScene(t)
	s.holds(repositoryWith(t, "", [2]string{"clusters/mine/machine.yaml", template}))
	said, err := s.check(t.Context(), t, "./clusters/mine")
	if err != nil || len(said.texts) != 1 || !strings.Contains(said.texts[0], "has no hash of ./clusters/mine") {
		t.Errorf("%v, warnings %q", err, said.texts)
	}
}

// Unknown is never unchanged: what cannot be read is read again, and refused in the end.
func TestASourceThatCannotBeReadIsRefusedRetryably(t *testing.T) {
	good := repositoryWith(t, "")
	other := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(good[1:]) }
	absent := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, tc := range map[string]struct {
		serve    http.HandlerFunc
		want     string
		patience time.Duration // also the bound of one attempt, which a busy machine needs
	}{
		"another digest": {other, "but Flux reports sha256:", 2 * time.Second},
		"no controller":  {absent, "503", 2 * time.Second},
		"no answer":      {silent, "deadline exceeded", 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSourceScene(t)
			s.holds(good)
			s.serve, s.patience = tc.serve, tc.patience
			_, err := s.check(t.Context(), t, usedPath)
			if fault.CodeOf(err) != fault.SourceUnreadable || !fault.CanRetry(err) {
				t.Fatal(err)
			}
			hint := fault.HintOf(err)
			if !strings.Contains(err.Error(), tc.want) || !strings.Contains(hint, "kubectl -n flux-system get pods") {
				t.Errorf("%v\nhint: %s", err, hint)
			}
		})
	}
	t.Run("until it can be read", func(t *testing.T) {
		s := newSourceScene(t)
		s.holds(good)
		var asked atomic.Int32
		s.serve = func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) < 3 {
				http.NotFound(w, nil)
				return
			}
			_, _ = w.Write(good)
		}
		if _, err := s.check(t.Context(), t, usedPath); err != nil || asked.Load() != 3 {
			t.Errorf("asked %d times: %v", asked.Load(), err)
		}
	})
}

// A repository that is larger than what is read works today, and would be refused for ever.
func TestALargeSourceIsNotComparedAndThatIsSaid(t *testing.T) {
	s := newSourceScene(t)
	s.holds(bytes.Repeat([]byte("x"), 1<<20+1))
	said, err := s.check(t.Context(), t, usedPath)
	if err != nil || len(said.texts) != 1 || !strings.Contains(said.texts[0], "were not compared") {
		t.Errorf("%v, warnings %q", err, said.texts)
	}
}

// Flux gets the time of the phase to fetch a source, however long that is. What it fetched before does not count.
func TestFluxIsGivenTimeToFetchTheSource(t *testing.T) {
	stale, good := repositoryWith(t, "{}"), repositoryWith(t, "")
	s := newSourceScene(t)
	s.holds(good)
	start := time.Now()
	s.now = func() time.Time { return start.Add(time.Duration(s.applied.Load()) * time.Hour) }
	s.fetch = func(r *sourcev1.GitRepository) {
		switch s.applied.Load() {
		case 1: // of an earlier run
			fetched(r, stale)
			r.Status.LastHandledReconcileAt = "yesterday"
		case 2, 3, 4:
			r.Status.LastHandledReconcileAt = r.Annotations[meta.ReconcileRequestAnnotation]
			is(r, metav1.ConditionFalse, "GitOperationFailed", "connection refused")
		default:
			fetched(r, good)
		}
	}
	said, err := s.check(t.Context(), t, usedPath)
	if err != nil || s.applied.Load() != 5 {
		t.Fatalf("applied %d times: %v", s.applied.Load(), err)
	}
	for _, want := range []string{"Progressing: has not handled", "connection refused", "Deleted: "} {
		if o := <-said.objects; o.Name != source.CandidateName || !strings.Contains(o.State+": "+o.Message, want) {
			t.Errorf("reported %+v, want %s", o, want)
		}
	}
	if len(said.objects) != 0 || len(said.waits) != 4 {
		t.Errorf("reported %d more, waits %d", len(said.objects), len(said.waits))
	}
}

func TestASourceThatFluxDoesNotFetch(t *testing.T) {
	never := func(r *sourcev1.GitRepository) {
		r.Status.LastHandledReconcileAt = r.Annotations[meta.ReconcileRequestAnnotation]
		is(r, metav1.ConditionFalse, "GitOperationFailed", "authentication required")
	}
	t.Run("in time", func(t *testing.T) {
		s := newSourceScene(t)
		s.fetch = never
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := s.check(ctx, t, usedPath)
		if fault.CodeOf(err) != fault.ComponentStuck || !fault.CanRetry(err) ||
			!strings.Contains(err.Error(), "authentication required") {
			t.Errorf("%v", err)
		}
	})
	t.Run("before the run is interrupted", func(t *testing.T) {
		s := newSourceScene(t)
		ctx, cancel := context.WithCancel(t.Context())
		s.fetch = func(r *sourcev1.GitRepository) { never(r); cancel() }
		_, err := s.check(ctx, t, usedPath)
		if !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.Unknown {
			t.Errorf("%v", err)
		}
	})
	t.Run("and gives up", func(t *testing.T) {
		s := newSourceScene(t)
		s.fetch = func(r *sourcev1.GitRepository) {
			never(r)
			apimeta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{
				Type: meta.StalledCondition, Status: metav1.ConditionTrue,
				Reason: "URLInvalid", Message: "no such scheme",
			})
		}
		_, err := s.check(t.Context(), t, usedPath)
		if fault.CodeOf(err) != fault.ComponentStuck || fault.CanRetry(err) ||
			!strings.Contains(err.Error(), "no such scheme") {
			t.Errorf("%v", err)
		}
	})
}

// Only a Git source can hold what does not fit, and only a release with the definition acts on it. The cluster is nil:
// no request is sent.
func TestOtherSourcesAreNotChecked(t *testing.T) {
	load := func(sets ...string) *environment.Environment {
		t.Helper()
		options := environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(), Sets: sets}
		env, err := environment.Load(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	env := load()
	elsewhere := load("git_repo_templates.mine.url=https://git.example.org/mine.git", "components.cluster.repo=mine")
	for name, r := range map[string]Release{
		"embedded":               {Source: source.Source{Kind: source.Embedded}, Definition: true},
		"oci":                    {Source: source.Source{Kind: source.OCI}, Definition: true},
		"git without definition": {Source: source.Source{Kind: source.Git}},
		"another repository":     {Source: source.Source{Kind: source.Git}, Environment: elsewhere, Definition: true},
	} {
		r.Environment, r.Phase = cmp.Or(r.Environment, env), environment.Management
		if err := r.CheckSource(t.Context(), nil, Options{}, newEar()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	git := Release{Environment: env, Phase: environment.Management}
	if path, err := git.definitionPath(); err != nil || path != "./kustomize-components/cluster/kubeadm-capd" {
		t.Errorf("the definition is at %q, %v", path, err)
	}
}
