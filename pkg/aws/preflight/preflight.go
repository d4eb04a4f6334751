// Package preflight checks whether a cluster can be made in an AWS account, before anything is created.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/aws"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Time bounds Run.
const Time = 20 * time.Second

// Needs is what a cluster consists of.
type Needs struct {
	// Cluster is its name, which Cluster API's provider puts into tags.
	Cluster string
	// ControlPlane and Workers are the machines.
	ControlPlane, Workers Machines
	// Pools are the further pools of workers.
	Pools []Machines
	// Image is the id of the AMI. Empty means that Lookup finds one.
	Image  string
	Lookup Lookup
	// RootGiB is the size of each machine's disk.
	RootGiB int
	// KeyPair may be empty.
	KeyPair string
	// Bucket has the machines' user data.
	Bucket string
	// Temporary reports that the credentials have a session token.
	Temporary bool
}

// Machines are those of one role.
type Machines struct {
	Count         int
	Type, Profile string
}

// Lookup finds an AMI. Empty fields have the defaults of Cluster API's provider.
type Lookup struct{ BaseOS, Format, Owner, KubernetesVersion string }

// Report is the result of a preflight, except for problems.
type Report struct {
	// Notes are observations.
	Notes []string
	// Warnings are checks that were not possible, and what may stop a run later.
	Warnings []string
}

// Run checks what would stop the cluster from being made, for at most Time. The error joins one fault.CloudLacks for
// each problem, and aws.Explain's error for each failed request. A request that AWS does not permit is a warning: what
// it is about is unknown, neither present nor missing. Run stops early if AWS does not answer or knows no such
// credentials.
func Run(ctx context.Context, client *aws.Client, needs Needs) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	i := &inspection{client: client, needs: needs}
	for _, check := range []func(context.Context){
		i.credentials, i.machines, i.keyPair, i.profiles, i.bucket, i.quotas,
	} {
		if i.unreachable { // each further request would run into its own timeout
			break
		}
		if ctx.Err() != nil {
			i.warn("not everything was checked: AWS answered too slowly")
			break
		}
		check(ctx)
	}
	return i.report, errors.Join(i.problems...)
}

// inspection is one running preflight.
type inspection struct {
	client      *aws.Client
	needs       Needs
	vcpus       int // of all machines; zero: not known
	report      Report
	problems    []error
	unreachable bool
}

func (i *inspection) note(format string, args ...any) {
	i.report.Notes = append(i.report.Notes, fmt.Sprintf(format, args...))
}

func (i *inspection) warn(format string, args ...any) {
	i.report.Warnings = append(i.report.Warnings, fmt.Sprintf(format, args...))
}

// problem records a problem: what is wanted and what exists.
func (i *inspection) problem(hint, format string, args ...any) {
	i.problems = append(i.problems, fault.New(fault.CloudLacks, fmt.Sprintf(format, args...), hint))
}

// asked reports whether a request was answered. One that is not permitted is a warning, any other failure is a problem.
func (i *inspection) asked(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case aws.Forbidden(err):
		i.warn("%s: not checked: these credentials lack the permission (%v)", what, err)
	default:
		explained := aws.Explain("check "+what, err)
		i.unreachable = i.unreachable || fault.CodeOf(explained) != fault.Unknown
		i.problems = append(i.problems, explained)
	}
	return false
}

// credentials asks whose they are.
func (i *inspection) credentials(ctx context.Context) {
	who, err := i.client.Identity(ctx)
	if !i.asked("the credentials", err) {
		i.unreachable = true
		return
	}
	i.note("account %s, region %s, as %s", who.Account, i.client.Region, who.ARN)
	if i.needs.Temporary {
		i.warn("these are session credentials: they expire, and then the management cluster can no longer change its " +
			"machines; use keys of an IAM user, or run the command again with new credentials before that")
	}
}
