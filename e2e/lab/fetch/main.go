// Command fetch downloads the Go modules that a bundle is built from. `make up` runs it during compilation, which
// would wait for them later. It needs little but the standard library.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/registries"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

func main() {
	environments := flag.String("env", "kubeadm-capd", "environments that the bundle is for, comma separated")
	offline := flag.Bool("offline", false, "a bundle is used even where registries answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := fetch(ctx, strings.Split(*environments, ","), *offline)
	stop()
	if err != nil { // no reason to fail: the compiler downloads what is missing, or reports why it cannot
		fmt.Fprintln(os.Stderr, "fetch:", err)
	}
}

// fetch downloads what the store does not hold the programs of.
func fetch(ctx context.Context, environments []string, offline bool) error {
	if !offline && registries.Answer(ctx) {
		return nil
	}
	cache, err := store.Open()
	if err != nil {
		return err
	}
	compiler := golang.Builder{Root: ".", Store: cache, Say: progress.New(os.Stderr)}
	space, err := compiler.Missing(ctx, plan.Modules(environments))
	if err != nil || len(space.Modules) == 0 {
		return err
	}
	space.Packages = []string{"./e2e/lab", "./cmd/cluster-init"}
	return space.Fetch(ctx)
}
