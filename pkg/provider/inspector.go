package provider

import "context"

// Inspector is a provider that can inspect machines, for a diagnosis.
type Inspector interface {
	// Inspect returns reports about a machine, from the machine itself and from the system that it runs in. machine is
	// the name of Cluster API's infrastructure object. A missing machine has no reports. What could not be read is an
	// error, returned together with the rest.
	Inspect(ctx context.Context, machine string) ([]Said, error)
}

// Said is one report about a machine.
type Said struct {
	// From is "fault" for the cloud's own error, "console" for the machine's boot output, "journal" for the log of its
	// node's services.
	From string
	Text string
}
