package runs

import (
	"cmp"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// FolderField is the field of a run's first event with the absolute path of the environment's folder. The user's own
// spelling depends on the working directory.
const FolderField = "folder"

// Of returns what identifies runs of one environment: its folder, or its name.
func Of(started event.Event) string { return cmp.Or(started.Fields[FolderField], started.Environment) }

// Of returns what identifies runs of one environment.
func (r Recording) Of() string {
	if len(r.Events) == 0 {
		return r.Environment
	}
	return Of(r.Events[0])
}
