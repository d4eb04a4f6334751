package cli

import (
	"context"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/down"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// What a shell completes for --phase-timeout are the phases that a run of that command has.
func TestThePhasesThatAreCompletedAreThoseOfARun(t *testing.T) {
	env, err := environment.Load(context.Background(), environment.Options{Name: "kubeadm-capd",
		Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	makes, err := known.Of(env, &docker.Client{})
	if err != nil {
		t.Fatal(err)
	}
	subject, parts := clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: t.TempDir()},
		clusters.Parts{Provider: makes}
	run := up.New(up.Options{Subject: subject, Environment: env}, parts)
	for command, phases := range map[string][]pipeline.Phase{
		"up":    run.Phases(),
		"check": run.Phases(), "down": down.New(down.Options{Subject: subject, Environment: env}, parts).Phases(),
		"pivot resume": run.ResumePhases(), "pivot rollback": run.RollbackPhases(),
	} {
		c, _, err := Command().Find(strings.Fields(command))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range phases {
			names = append(names, p.Name+"=")
		}
		if got := c.Flags().Lookup("phase-timeout").Annotations[assigned]; !slices.Equal(got, names) {
			t.Errorf("%s:\ngot  %q\nwant %q", command, got, names)
		}
	}
}
