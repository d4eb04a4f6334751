package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/artifact"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func newPublish(streams Streams) *cobra.Command {
	var o environmentOptions
	var insecure bool
	c := &cobra.Command{
		Use:   "publish oci://HOST/PREFIX ENVIRONMENT",
		Short: "Push this binary's content into a registry of your own, for `up --source oci`",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			prefix, ok := strings.CutPrefix(args[0], "oci://")
			if !ok {
				return fault.New(fault.Usage, fmt.Sprintf("%q is no oci:// address", args[0]), "Give oci://HOST/PREFIX.")
			}
			env, err := o.load(c.Context(), args[1])
			if err != nil {
				return err
			}
			paths, err := bootstrap.ComponentPaths(env)
			if err != nil {
				return err
			}
			p, err := artifact.Publish(c.Context(), artifact.Target{Prefix: prefix, Insecure: insecure},
				artifact.PublishOptions{FS: clusterinit.Content(), Paths: paths, Fetch: artifact.NewHTTPFetcher(proxies(env))})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(streams.Out, "--source oci --source-url oci://%s --source-content-tag %s --source-chart-tag %s\n", prefix, p.Content.Tag, p.Chart.Tag)
			return err
		},
	}
	o.flags(c.Flags())
	c.Flags().BoolVar(&insecure, "insecure", false, "the registry speaks plain HTTP")
	return c
}
