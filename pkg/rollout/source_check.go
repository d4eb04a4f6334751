package rollout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

const (
	// mostArtifact is the maximum size of the artifact, compressed, in bytes. The manifests of a repository are far
	// smaller.
	mostArtifact = 64 << 20
	// readPatience is how long attempts may fail for another reason than an unfinished fetch: source-controller may
	// restart.
	readPatience = 2 * time.Minute
	// removeBound is for the removal of the candidate, also after an interrupt.
	removeBound = 10 * time.Second
)

// CheckSource compares a Git source with the hashes of the cluster definitions in its chart, before any object of the
// release reads from it. Flux fetches the source as a candidate, under another name: the release of an earlier run
// would act at once on a source that changes. Stale definitions are a fault EnvironmentInvalid. A source that cannot be
// read for readPatience is a retryable fault; one that is too large is only a warning. Other kinds of source are not
// checked: cluster-init packs their chart together with the definitions.
func (r Release) CheckSource(ctx context.Context, c *kube.Cluster, o Options, report pipeline.Reporter) error {
	if r.Source.Kind != source.Git || !r.Definition {
		return nil
	}
	path, err := r.definitionPath()
	if err != nil || path == "" {
		return err
	}
	return sourceCheck{
		cluster: c, objects: r.Source.Candidate(), path: path, most: mostArtifact,
		heartbeat: o.Heartbeat, interval: askInterval, patience: readPatience, now: o.Now,
	}.run(ctx, report)
}

// definitionPath returns the folder of the cluster definition in the release's source. It is empty if the release has
// none, or reads it from another repository.
func (r Release) definitionPath() (string, error) {
	components, err := r.Environment.Components(r.Phase)
	if err != nil {
		return "", fmt.Errorf("find the component cluster: %w", err)
	}
	for _, component := range components {
		if component.Name == "cluster" && component.Source == flux.ReleaseName {
			return component.Path, nil
		}
	}
	return "", nil
}

// sourceCheck is the check of one source in one cluster.
type sourceCheck struct {
	cluster   *kube.Cluster
	objects   []client.Object // of the candidate; the last one is the GitRepository
	path      string          // of the definition that the release uses
	most      int64           // bytes of the artifact, compressed
	heartbeat time.Duration
	interval  time.Duration // between two attempts
	patience  time.Duration // how long attempts may fail, see readPatience; also the bound of one attempt
	now       func() time.Time
}

// notFetched is the error of an attempt for which Flux is not finished.
type notFetched struct{ event.Object }

func (n notFetched) Error() string {
	return fmt.Sprintf("%s/%s is %s: %s", n.Kind, n.Name, n.State, n.Message)
}

// awaitedFetch names the wait for Flux.
const awaitedFetch = "Flux to fetch the source"

// run waits for Flux as long as ctx allows, and reports what it waits for.
func (s sourceCheck) run(ctx context.Context, report pipeline.Reporter) error {
	token := s.now().Format(time.RFC3339Nano)
	s.repository().SetAnnotations(map[string]string{meta.ReconcileRequestAnnotation: token})
	var last notFetched
	defer func() {
		s.remove(ctx, report)
		if last.Name != "" {
			last.State, last.Reason, last.Message = "Deleted", "", ""
			report.Object(last.Object)
		}
	}()
	tick := time.NewTicker(s.interval)
	defer tick.Stop()
	said, readable := s.now(), s.now()
	for {
		revision, content, err := s.attempt(ctx, token)
		fetching, isFetching := errors.AsType[notFetched](err)
		switch {
		case err == nil:
			return s.judge(content, revision, report)
		case errors.Is(err, flux.ErrArtifactTooLarge), errors.Is(err, unpack.ErrTooLarge):
			// A later run could not read it either, and such a source works: report it, do not refuse it.
			report.Warn("the machine templates of the source were not compared with its %s: %v. "+
				"If a template changed and its hash did not, the API server refuses it", definitions.File, err)
			return nil
		case fault.CodeOf(err) != fault.Unknown:
			return err
		case isFetching:
			readable = s.now()
			if fetching.State != last.State || fetching.Message != last.Message {
				report.Object(fetching.Object)
			}
			last = fetching
		}
		if s.now().Sub(readable) >= s.patience {
			return s.unreadable(err)
		}
		if s.now().Sub(said) >= s.heartbeat {
			said = s.now()
			if isFetching {
				report.Waiting(awaitedFetch, []event.Object{fetching.Object})
			} else {
				report.Waiting("the content of the source: "+err.Error(), nil)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return s.unfinished(ctx.Err(), err)
		}
	}
}

// unfinished explains why the wait ended before the content was read. last is the error of the last attempt.
func (s sourceCheck) unfinished(cause, last error) error {
	_, isFetching := errors.AsType[notFetched](last)
	switch {
	case errors.Is(cause, context.Canceled):
		return fmt.Errorf("waiting for %s: %w", awaitedFetch, cause)
	case !isFetching:
		return s.unreadable(errors.Join(last, cause))
	}
	return fault.Retryable(fmt.Errorf("waiting for %s: %w; not ready: %w", awaitedFetch, cause, last),
		fault.ComponentStuck, "Fix what the message says, and run the same command again.")
}

// unreadable is the error for fetched content that cannot be read: unknown never counts as unchanged.
func (s sourceCheck) unreadable(err error) error {
	err = fmt.Errorf("compare the machine templates of the source with its %s: %w", definitions.File, err)
	hint := fmt.Sprintf("Check that source-controller runs in the %s cluster (kubectl -n %s get pods), "+
		"and run the same command again.", s.cluster.Name, flux.Namespace)
	return fault.Retryable(err, fault.SourceUnreadable, hint)
}

// judge compares the content with what its chart knows.
func (s sourceCheck) judge(content fs.FS, revision string, report pipeline.Reporter) error {
	hashed, err := definitions.CheckUsed(content, s.path)
	if err != nil {
		return fmt.Errorf("the source at %s: %w", revision, err)
	}
	if !hashed {
		report.Warn("the source's %s has no hash of %s: a machine template that changes there keeps its name, "+
			"and the API server refuses it", definitions.File, s.path)
		return nil
	}
	report.Progress("compared the machine templates of the source at %s with its chart", revision)
	return nil
}

// attempt applies the candidate and reads what Flux has fetched since token. It applies it each time: a candidate that
// an earlier run deleted may still be there, and disappear later.
func (s sourceCheck) attempt(ctx context.Context, token string) (revision string, content fs.FS, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	if err := s.cluster.ApplyAll(ctx, s.objects...); err != nil {
		return "", nil, err
	}
	artifact, err := s.fetched(ctx, token)
	if err != nil {
		return "", nil, err
	}
	archive, err := flux.ReadArtifact(ctx, s.cluster, artifact, s.most)
	if err != nil {
		return "", nil, err
	}
	content, err = definitions.Unpack(archive)
	return artifact.Revision, content, err
}

// fetched returns the artifact that Flux has made from the candidate since token.
func (s sourceCheck) fetched(ctx context.Context, token string) (*meta.Artifact, error) {
	repository, key := &sourcev1.GitRepository{}, client.ObjectKeyFromObject(s.repository())
	if err := s.cluster.Get(ctx, key, repository); err != nil {
		return nil, fmt.Errorf("read GitRepository %s in the %s cluster: %w", key, s.cluster.Name, err)
	}
	state, err := stateOfSource(repository)
	if err != nil {
		return nil, err
	}
	handled := repository.Status.LastHandledReconcileAt == token
	switch {
	case handled && state.Status == health.Ready && repository.Status.Artifact != nil:
		return repository.Status.Artifact, nil
	case handled && state.Status == health.Failed:
		err := fmt.Errorf("Flux in the %s cluster cannot fetch the source: %s: %s",
			s.cluster.Name, state.Reason, state.Message)
		return nil, fault.Wrap(err, fault.ComponentStuck, "Fix what the message says, and run the same command again.")
	case !handled:
		state = health.State{Status: health.Progressing, Message: "has not handled the latest request yet"}
	}
	return nil, notFetched{event.Object{
		Cluster: s.cluster.Name, Kind: sourcev1.GitRepositoryKind, Namespace: key.Namespace, Name: key.Name,
		State: state.Status, Reason: state.Reason, Message: state.Message,
	}}
}

func (s sourceCheck) repository() client.Object { return s.objects[len(s.objects)-1] }

func stateOfSource(repository *sourcev1.GitRepository) (health.State, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(repository)
	if err != nil {
		return health.State{}, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(sourcev1.GitRepositoryKind))
	return health.Of(u), nil
}

// remove deletes the candidate, also after an interrupt: its Secret has a copy of the credentials.
func (s sourceCheck) remove(ctx context.Context, report pipeline.Reporter) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeBound)
	defer cancel()
	for _, o := range s.objects {
		if err := s.cluster.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			report.Warn("delete the candidate of the source in the %s cluster: %v. "+
				"To delete it: kubectl -n %s delete gitrepository,secret %s",
				s.cluster.Name, err, flux.Namespace, source.CandidateName)
			return
		}
	}
}
