package provider

import "context"

// Inspector is a provider that can look into machines, for a diagnosis.
type Inspector interface {
	// Inspect returns what is said of a machine by the machine itself and by the system that it is in. machine is the
	// name of Cluster API's object of the infrastructure. A machine that does not exist there has nothing said of it;
	// what could not be asked is an error, beside what could.
	Inspect(ctx context.Context, machine string) ([]Said, error)
}

// Said is something that was said of a machine.
type Said struct {
	// From is "fault" for what the cloud says, "console" for what the machine wrote while it booted, "journal" for what
	// its node's services log.
	From string
	Text string
}
