package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

func newPublish(streams Streams) *cobra.Command {
	var o environmentOptions
	var insecure, requirePinned bool
	var bundleFolder string
	var components componentOptions
	var output outputOptions
	c := &cobra.Command{
		Use:   "publish oci://HOST/PREFIX ENVIRONMENT",
		Short: "Push this binary's content into your own registry, for `up --source oci`",
		Long: `publish packs this binary's content for an environment (its components and the chart), and pushes it
into a registry. It prints the flags with which up reads it from there.`,
		Example: `  cluster-init publish oci://registry.example.org/platform kubeadm-capo
  cluster-init publish oci://registry.example.org/platform kubeadm-capo -o json | jq -r .contentTag`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := output.known(); err != nil {
				return err
			}
			prefix, ok := strings.CutPrefix(args[0], "oci://")
			if !ok {
				return fault.New(fault.Usage, fmt.Sprintf("%q is no oci:// address", args[0]),
					"Give oci://HOST/PREFIX.")
			}
			loaded := o.options(args[1])
			loaded.Derive = known.NoCredentials // nothing that is published holds any
			env, err := environment.Load(c.Context(), loaded)
			if err != nil {
				return err
			}
			opened, err := openBundle(bundleFolder, env.BuiltOn())
			if err != nil {
				return err
			}
			env, options, err := publishOptions(env, clusterinit.Content(), opened)
			if err != nil {
				return err
			}
			if options.Profile, err = components.with(env, options.FS, options.Profile); err != nil {
				return err
			}
			if err := warnUnpinned(c.Context(), streams.Err, options, requirePinned); err != nil {
				return err
			}
			p, err := content.Publish(c.Context(), oci.Target{Prefix: prefix, Insecure: insecure}, options)
			if err != nil {
				return err
			}
			mirror, err := publishPrograms(c.Context(), env, oci.Target{Prefix: prefix, Insecure: insecure})
			if err != nil {
				return err
			}
			return output.show(streams, publishedLine{
				"published", "oci://" + prefix, p.Content.Tag, p.Chart.Tag, p.Content.Digest, p.Chart.Digest, mirror,
			})
		},
	}
	o.flags(c.Flags(), streams)
	output.formatFlag(c.Flags(), "plain: the flags for up; json: one object")
	components.flags(c.Flags())
	c.Flags().BoolVar(&requirePinned, "require-pinned", false, requirePinnedUsage)
	c.Flags().BoolVar(&insecure, "insecure", false, "the registry speaks plain HTTP")
	c.Flags().StringVar(&bundleFolder, "bundle", "", "folder of an offline bundle: take release files from it, as "+
		"up --bundle needs them")
	return c
}

// publishedLine is the output of `publish`.
type publishedLine struct {
	Type       string `json:"type"`
	URL        string `json:"url"`
	ContentTag string `json:"contentTag"`
	ChartTag   string `json:"chartTag"`
	// The digests name the same content even if the tags move.
	ContentDigest string `json:"contentDigest"`
	ChartDigest   string `json:"chartDigest"`
	// KubernetesMirror is the address of the files that machines install when they boot. Empty if they install none.
	KubernetesMirror string `json:"kubernetesMirror,omitempty"`
}

// Print writes the flags with which `up` reads what was published.
func (l publishedLine) Print(out io.Writer) error {
	flags := fmt.Sprintf("--source oci --source-url %s --source-content-tag %s --source-chart-tag %s", l.URL,
		l.ContentTag, l.ChartTag)
	if l.KubernetesMirror != "" {
		flags += " --set cluster.kubernetes_mirror=" + l.KubernetesMirror
	}
	_, err := fmt.Fprintln(out, flags)
	return err
}

// publishPrograms pushes the files that machines install when they boot, and returns the address where machines find
// them. Empty means that they install none.
func publishPrograms(ctx context.Context, env *environment.Environment, target oci.Target) (mirror string, err error) {
	programs, err := programsOf(env)
	if err != nil || len(programs.Files) == 0 {
		return "", err
	}
	if err := content.PublishPrograms(ctx, target, programs, ""); err != nil {
		return "", err
	}
	return content.ProgramsAddress(target.Prefix, target.Insecure)
}

// warnUnpinned names the release files without a digest, or refuses them, like the phase preflight of `up`.
func warnUnpinned(ctx context.Context, out io.Writer, options content.PublishOptions, refuse bool) error {
	urls, err := options.ReleaseFiles(ctx)
	if err != nil {
		return err
	}
	fetcher, overNetwork := options.Fetch.(*content.HTTPFetcher) // else the index of the bundle has the digests
	if !overNetwork {
		return nil
	}
	unpinned := fetcher.Unpinned(urls)
	if refuse && len(unpinned) > 0 {
		return bootstrap.NotPinned(unpinned)
	}
	if len(unpinned) > 0 {
		_, err = fmt.Fprintf(out, "warning: not pinned by a digest: %s\n", strings.Join(unpinned, ", "))
	}
	return err
}

// publishOptions returns what `up` publishes for an environment, and the environment with the bundle's values. Without
// a bundle, opened is nil.
func publishOptions(env *environment.Environment, fsys fs.FS, opened *bundle.Bundle) (*environment.Environment,
	content.PublishOptions, error) {
	options := content.PublishOptions{FS: fsys}
	fetcher, err := releaseFiles(env)
	if err != nil {
		return nil, options, err
	}
	options.Fetch = fetcher
	if opened != nil {
		// a bundle may hold another release of a component
		if env, err = env.WithOverrides(bundleValues(opened, env.KubernetesVersion())); err != nil {
			return nil, options, err
		}
		options.Fetch = opened
		if options.Profile, err = opened.Profile(); err != nil {
			return nil, options, err
		}
	}
	options.Paths, err = env.ComponentPaths()
	return env, options, err
}
