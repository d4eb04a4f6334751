package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/engine"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

// newPrepare returns the command behind `make up`: an engine where none answers, and a bundle where no registry does.
func newPrepare(say *progress.Printer) *cobra.Command {
	var environments []string
	var offline bool
	command := &cobra.Command{
		Use:   "prepare",
		Short: "Make sure that `up` can run here; print the folder of a bundle if it needs one, nothing otherwise",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := moduleRoot(cmd.Context())
			if err != nil {
				return err
			}
			if !offline && !registriesAnswer(cmd.Context()) {
				say.Say("no container registry can be reached: using an offline bundle")
				offline = true
			}
			folder := ""
			group, ctx := errgroup.WithContext(cmd.Context())
			// The engine is installed beside the compiler: it mostly waits for the network.
			group.Go(func() error { return engine.Ensure(ctx, root, say) })
			if offline {
				group.Go(func() (err error) {
					folder, err = buildBundle(ctx, say, environments, "")
					return err
				})
			}
			if err := group.Wait(); err != nil || folder == "" {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), folder)
			return nil
		},
	}
	command.Flags().StringSliceVar(&environments, "env", []string{"kubeadm-capd"}, "environments that are to be brought up")
	command.Flags().BoolVar(&offline, "offline", false, "use a bundle even where registries answer")
	return command
}

// registriesAnswer says whether the registries of the images that `up` pulls can be reached, each within five seconds.
// Any answer counts: 401 is how a registry asks for a token.
func registriesAnswer(ctx context.Context) bool {
	for _, host := range []string{"registry.k8s.io", "ghcr.io", "quay.io", "registry-1.docker.io"} {
		if !answers(ctx, "https://"+host+"/v2/") {
			return false
		}
	}
	return true
}

func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode < http.StatusInternalServerError
}
