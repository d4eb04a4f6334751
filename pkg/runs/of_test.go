package runs_test

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/runs"
)

// A folder is the same environment from wherever a run names it, and two folders of one name are two.
func TestOf(t *testing.T) {
	named := func(environment, folder string) string {
		e := event.Event{Type: event.RunStarted, Environment: environment}
		if folder != "" {
			e.Fields = map[string]string{runs.FolderField: folder}
		}
		return runs.Of(e)
	}
	if named("./site", "/a/site") != named("../site", "/a/site") || named("./site", "/a/site") == named(
		"./site", "/b/site") || named("kubeadm-capd", "") != "kubeadm-capd" {
		t.Error("one folder counts as two environments, or two folders as one")
	}
	if (runs.Recording{Environment: "unreadable"}).Of() != "unreadable" {
		t.Error("a recording without events")
	}
}
