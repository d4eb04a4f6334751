package diagnose

import "time"

const (
	listBound = 10 * time.Second // for one request to a cluster
	atOnce    = 8                // requests
)
