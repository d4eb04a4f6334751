package runs

import (
	"cmp"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// FolderField is the field of the event that begins a run with the absolute path of the environment, where that is a
// folder of the user's own: how the user named it depends on where the run was started.
const FolderField = "folder"

// Of is by what runs of one environment are known: its folder, or its name.
func Of(started event.Event) string { return cmp.Or(started.Fields[FolderField], started.Environment) }

// Of is by what runs of one environment are known.
func (r Recording) Of() string {
	if len(r.Events) == 0 {
		return r.Environment
	}
	return Of(r.Events[0])
}
