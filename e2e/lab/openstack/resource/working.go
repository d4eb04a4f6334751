package resource

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

// worker is a part of nova or cinder that answers no requests of users, but takes messages.
type worker struct {
	Binary    string `json:"binary"`
	Host      string `json:"host"`
	State     string `json:"state"`
	UpdatedAt string `json:"updated_at"` // UTC, without saying so
}

// Working returns nil when servers and volumes can be made: every worker has reported since the given time, and nova
// knows where its compute hosts are. What is sent to a worker before it takes messages is lost.
func Working(ctx context.Context, installation configuration.Installation, since time.Time) error {
	admin, err := connect(ctx, installation, Admin(installation))
	if err != nil {
		return err
	}
	compute := []string{"nova-conductor/lab", "nova-scheduler/lab"}
	for _, host := range configuration.Computes() {
		compute = append(compute, "nova-compute/"+host)
	}
	if err := reported(ctx, admin.compute, since, compute); err != nil {
		return err
	}
	if err := reported(ctx, admin.volume, since,
		[]string{"cinder-scheduler/lab", "cinder-volume/lab@lab"}); err != nil {
		return err
	}
	// A host is in this list when the scheduler has found it.
	hosts, err := list[struct {
		State string `json:"state"`
	}](ctx, admin.compute, "os-hypervisors", "hypervisors")
	if err != nil {
		return err
	}
	if len(hosts) < len(configuration.Computes()) {
		return fmt.Errorf("nova knows %d of its %d compute hosts", len(hosts), len(configuration.Computes()))
	}
	return nil
}

// reported returns an error that names the workers that have not reported since.
func reported(ctx context.Context, client *gophercloud.ServiceClient, since time.Time, names []string) error {
	workers, err := list[worker](ctx, client, "os-services", "services")
	if err != nil {
		return err
	}
	if missing := silent(workers, since, names); len(missing) > 0 {
		return fmt.Errorf("%s did not report yet", strings.Join(missing, ", "))
	}
	return nil
}

// silent returns those of the names, each binary/host, that have not reported since.
func silent(workers []worker, since time.Time, names []string) []string {
	well := map[string]bool{}
	for _, one := range workers {
		at, err := time.Parse("2006-01-02T15:04:05", one.UpdatedAt)
		if err == nil && one.State == "up" && !at.Before(since.UTC().Truncate(time.Second)) {
			well[one.Binary+"/"+one.Host] = true
		}
	}
	var missing []string
	for _, name := range names {
		if !well[name] {
			missing = append(missing, name)
		}
	}
	return missing
}
