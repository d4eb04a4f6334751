package up

import (
	"context"
	"errors"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider/aws"
)

// Every phase has a description.
func TestADryRunHasWordsForEachPhase(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	run := New(Options{Subject: clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: t.TempDir()},
		Environment: env},
		clusters.Parts{Provider: aws.Provider{}})
	for i, p := range run.Phases() {
		if i >= len(PhaseNames()) || p.Name != PhaseNames()[i] {
			t.Errorf("phase %s is not number %d of PhaseNames", p.Name, i)
		}
		if p.Does == nil {
			if !p.Looks {
				t.Errorf("phase %s does not say what it does", p.Name)
			}
			continue
		}
		if does, err := p.Does(); err != nil || does == "" || p.Looks {
			t.Errorf("phase %s: %q, %v", p.Name, does, err)
		}
	}
}

// A failed check does not mean that there is nothing to do. What an earlier phase is still to create cannot be checked
// yet.
func TestAStepThatCannotBeAsked(t *testing.T) {
	silent := errors.New("it does not answer")
	answers := func(s pipeline.Status, err error) pipeline.Phase {
		return pipeline.Phase{Name: "x", Check: func(context.Context) (pipeline.Status, error) { return s, err }}
	}
	for name, tc := range map[string]struct {
		phase         pipeline.Phase
		pending       bool
		done, unknown bool
	}{
		"nothing to do":                {phase: answers(nothingToDo("it is there")), done: true},
		"something to do":              {phase: answers(pipeline.Status{}, nil)},
		"no answer":                    {phase: answers(pipeline.Status{}, silent), unknown: true},
		"no answer, after one to do":   {phase: answers(pipeline.Status{}, silent), pending: true, unknown: true},
		"it is still to be made":       {phase: answers(pipeline.Status{}, clusters.ErrNotConnected), pending: true},
		"a phase that always looks on": {phase: pipeline.Phase{Name: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stepOf(t.Context(), tc.phase, tc.pending)
			if s.Done != tc.done || (s.Unknown != nil) != tc.unknown {
				t.Errorf("%+v", s)
			}
		})
	}
}
