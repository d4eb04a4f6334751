package status

import "fmt"

// Cause is why something of an environment is not ready, as a diagnosis found it.
type Cause struct {
	Cluster string `json:"cluster,omitempty"` // "bootstrap" or "management"
	Object  string `json:"object"`
	Cause   string `json:"cause"`
	Remedy  string `json:"remedy"`
	// Lasting is whether it is certain, and does not go away by itself.
	Lasting bool `json:"lasting"`
}

// Diagnosable says whether it is of use to look for causes.
func (r Report) Diagnosable() bool { return r.State == OnTheWay || r.State == Stuck }

// Because returns the report with the causes of what is not ready. What has a lasting one is stuck, whether or not its
// controller has given up.
func (r Report) Because(causes []Cause) Report {
	r.Causes = append([]Cause{}, causes...)
	for _, c := range causes {
		if c.Lasting && r.State == OnTheWay {
			r.State, r.Why = Stuck, fmt.Sprintf("%s (%s)", c.Cause, c.Object)
		}
	}
	return r
}
