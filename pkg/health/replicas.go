package health

import "fmt"

// Replicas are the machine counts of a control plane or of all workers, as their Cluster reports them.
type Replicas struct {
	Of                            string // the part, as the Cluster calls it: controlPlane, workers
	Desired, Ready, UpToDate, All int64
}

// Missing returns what is missing until the counts are as desired, or "". A Cluster reports Available with the first of
// several machines, and while old ones are being replaced. availableReplicas does not count: a control plane of the
// older contract (RKE2's) keeps an old value once no machine is unavailable any more.
func (r Replicas) Missing() (reason, message string) {
	switch {
	case r.Ready < r.Desired:
		return "ScalingUp", fmt.Sprintf("%s: %d of %d machines are ready", r.Of, r.Ready, r.Desired)
	case r.UpToDate < r.Desired:
		return "RollingOut", fmt.Sprintf("%s: %d of %d machines are up to date", r.Of, r.UpToDate, r.Desired)
	case r.All > r.Desired:
		return "ScalingDown", fmt.Sprintf("%s: %d machines exist, %d are desired", r.Of, r.All, r.Desired)
	}
	return "", ""
}
