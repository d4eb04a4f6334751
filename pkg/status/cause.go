package status

import "fmt"

// Cause is a cause that a diagnosis found for an object that is not ready.
type Cause struct {
	Cluster string `json:"cluster,omitempty"` // "bootstrap" or "management"
	Object  string `json:"object"`
	Cause   string `json:"cause"`
	Remedy  string `json:"remedy"`
	// Lasting reports that the confidence is high and that the cause does not go away by itself.
	Lasting bool `json:"lasting"`
}

// Diagnosable reports whether a diagnosis can find causes.
func (r Report) Diagnosable() bool { return r.State == Progressing || r.State == Stuck }

// Because returns the report with these causes. With a lasting cause the environment is stuck, also while a controller
// still retries.
func (r Report) Because(causes []Cause) Report {
	r.Causes = append([]Cause{}, causes...)
	for _, c := range causes {
		if c.Lasting && r.State == Progressing {
			r.State, r.Why = Stuck, fmt.Sprintf("%s (%s)", c.Cause, c.Object)
		}
	}
	return r
}
