package kind

import "sigs.k8s.io/kind/pkg/apis/config/defaults"

// DefaultNodeImage is the image of the bootstrap cluster's node where none is chosen, with its digest.
const DefaultNodeImage = defaults.Image
