package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// Every verb that times out reports what was not ready, its history, and the result of a diagnosis, before
// its end.
func TestARunThatFailsSaysWhy(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	engine := &docker.Client{}
	makes, err := known.Of(env, engine)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		err  error
		says []string // in this order; one that is not there is not said
	}{
		"time is up": {fault.New(fault.Timeout, "time is up", ""),
			[]string{"history of Machine/a: at 0s Deleting (two volumes are attached)", "diagnosing the failure",
				"finished"}},
		"other fault": {errors.New("no disk"), []string{"finished"}},
	} {
		t.Run(name, func(t *testing.T) {
			heard := &event.Recorder{}
			failed := false
			err := runPhases(t.Context(), heard, "down", "kubeadm-capd", func(context.Context, *lease.Set) (*phaseRun,
				error) {
				return &phaseRun{folder: t.TempDir(), outcome: func() outcome { return outcome{} },
					diagnosis: func() *diagnosis {
						return diagnosisOf(clusters.New(clusters.Subject{Identity: clusters.IdentityOf(env),
							StateFolder: t.TempDir()},
							clusters.Parts{Docker: engine, Provider: makes, Kind: kind.New(func(string) {}),
								Now: time.Now}))
					},
					phases: []pipeline.Phase{{Name: "delete",
						Run: func(_ context.Context, report pipeline.Reporter) error {
							report.Object(event.Object{Cluster: "bootstrap", Kind: "Machine", Name: "a",
								State:   "Deleting",
								Message: "two volumes are attached"})
							return tc.err
						}}}}, nil
			}, func(context.Context, error, event.Event) { failed = true })
			if err == nil || !failed {
				t.Errorf("error %v, failed was called: %v", err, failed)
			}
			var said []string
			for _, e := range heard.Events() {
				switch {
				case e.Type == event.RunFinished:
					said = append(said, "finished")
				case strings.HasPrefix(e.Message, "history of") || e.Message == "diagnosing the failure":
					said = append(said, e.Message)
				}
			}
			if !slices.Equal(said, tc.says) {
				t.Errorf("said %q, want %q", said, tc.says)
			}
		})
	}
}

// A restore that was not available in time names what is not, up to a number.
func TestUnavailableNamesWhatIsNot(t *testing.T) {
	var seen restore.Adoption
	for _, object := range strings.Split("abcdefg", "") {
		seen.Unmet = append(seen.Unmet, selfmanaged.Unmet{Object: "Machine/" + object, Message: "no node"})
	}
	o := restoreOptions{timeout: time.Minute}
	if got := o.unavailable(seen, nil).Error(); !strings.HasSuffix(got, "7 conditions are not true yet: Machine/a: no "+
		"node; Machine/b: no node; Machine/c: no node; Machine/d: no node; Machine/e: no node; and 2 more") {
		t.Error(got)
	}
}
