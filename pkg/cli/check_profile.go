package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// checkProfile checks what the definition of the cluster gives to its control plane against the security profile. ok
// reports that the environment has one. files has the components.
func checkProfile(ctx context.Context, env *environment.Environment, files fs.FS) (f up.Finding, ok bool) {
	profile := benchmark.Profile(env.Spec().Cluster.SecurityProfile)
	if profile.Name() == "" {
		return f, false
	}
	f.Title = "security profile " + string(profile)
	const later = "`status` checks the running components"
	if env.Spec().Cluster.BootstrapProvider == "rke2" {
		f.Seen = []string{"RKE2 sets a part of the arguments itself: " + later}
		return f, true
	}
	objects, err := manifests.Definition(ctx, env, files)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // then it is in the source only
		f.Problems = fault.Problems(err)
		return f, true
	}
	for _, o := range objects {
		arguments, known := benchmark.OfDefinition(o)
		if !known {
			continue
		}
		failed, made := benchmark.Evaluate(arguments, profile.OfDefinition())
		for _, each := range failed {
			f.Warnings = append(f.Warnings, each.String())
		}
		f.Seen = append(f.Seen, fmt.Sprintf("%s: the definition follows %d of %d recommendations about arguments; %s",
			profile.Name(), made-len(failed), made, later))
	}
	if len(f.Seen) == 0 {
		f.Seen = []string{"the definition is not in this content: " + later}
	}
	return f, true
}
