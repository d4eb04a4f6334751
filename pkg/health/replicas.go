package health

import "fmt"

// Replicas are how many machines a control plane has, or all workers have, as their Cluster says.
type Replicas struct {
	Of                            string // what has them, as the Cluster calls it: controlPlane, workers
	Desired, Ready, UpToDate, All int64
}

// Missing is what is still to be done until they are as desired, "" for nothing. A Cluster calls itself Available with
// the first of several, and while old ones are being replaced. Its availableReplicas are not asked: of a control plane
// of the older contract (RKE2's) it keeps an old value once no machine is unavailable any more.
func (r Replicas) Missing() (reason, message string) {
	switch {
	case r.Ready < r.Desired:
		return "ScalingUp", fmt.Sprintf("%s: %d of %d machines are ready", r.Of, r.Ready, r.Desired)
	case r.UpToDate < r.Desired:
		return "RollingOut", fmt.Sprintf("%s: %d of %d machines are up to date", r.Of, r.UpToDate, r.Desired)
	case r.All > r.Desired:
		return "ScalingDown", fmt.Sprintf("%s: there are %d machines, and %d are wanted", r.Of, r.All, r.Desired)
	}
	return "", ""
}
