package diagnose

import "time"

const (
	requestTimeout      = 10 * time.Second // for one request to a cluster
	parallelInspections = 8                // of machines
)
