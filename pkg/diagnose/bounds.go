package diagnose

import "time"

const (
	listBound = 10 * time.Second // for one question to a cluster
	atOnce    = 8                // questions
)
