package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/artifact"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

// sourceOptions are the flags that say where Flux reads the content from.
type sourceOptions struct {
	kind, url, branch, commit, contentTag, chartTag string
	insecure                                        bool
}

func (o *sourceOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.kind, "source", "embedded", "where Flux reads from: embedded (this binary's content), git or oci")
	f.StringVar(&o.url, "source-url", "", "git: URL of the repository; oci: oci://HOST/PREFIX that cluster-init publish filled")
	f.StringVar(&o.branch, "source-branch", "", "git: branch to follow (default without a commit: main)")
	f.StringVar(&o.commit, "source-commit", "", "git: commit to stay at (default: $CURRENT_COMMIT)")
	f.StringVar(&o.contentTag, "source-content-tag", "", "oci: tag of the content, as cluster-init publish printed it")
	f.StringVar(&o.chartTag, "source-chart-tag", "", "oci: tag of the chart, as cluster-init publish printed it")
	f.BoolVar(&o.insecure, "source-insecure", false, "oci: the registry speaks plain HTTP")
}

// source checks the flags and that the source can be read.
func (o *sourceOptions) source(ctx context.Context, env *environment.Environment) (bootstrap.Source, error) {
	switch bootstrap.SourceKind(o.kind) {
	case bootstrap.SourceEmbedded:
		if provider := env.InfraProvider(); provider != "capd" {
			return bootstrap.Source{}, fault.New(fault.Usage,
				fmt.Sprintf("--source embedded is a registry in this machine's Docker engine, which machines of %s cannot reach", provider),
				"Use --source git, or --source oci with a registry that both reach: see docs/sources.md.")
		}
		return bootstrap.Source{Kind: bootstrap.SourceEmbedded}, nil
	case bootstrap.SourceGit:
		return o.git(ctx, env)
	case bootstrap.SourceOCI:
		return o.oci(ctx, env)
	}
	return bootstrap.Source{}, fault.New(fault.Usage, fmt.Sprintf("--source %q is not known", o.kind), "Use embedded, git or oci.")
}

func (o *sourceOptions) git(ctx context.Context, env *environment.Environment) (bootstrap.Source, error) {
	if o.url == "" {
		return bootstrap.Source{}, fault.New(fault.Usage, "--source git needs --source-url", "Give the URL of the Git repository.")
	}
	commit := o.commit
	if commit == "" {
		commit = os.Getenv("CURRENT_COMMIT")
	}
	s := bootstrap.Source{
		Kind:     bootstrap.SourceGit,
		Git:      flux.GitSource{URL: o.url, Branch: o.branch, Commit: commit},
		Username: os.Getenv("GITLAB_USER"), Password: os.Getenv("GITLAB_TOKEN"),
	}
	if s.Git.Branch == "" && s.Git.Commit == "" {
		s.Git.Branch = "main"
	}
	return s, artifact.VerifySource(ctx, artifact.Source{
		Kind: "git", URL: o.url, Branch: o.branch, Username: s.Username, Password: s.Password, Proxies: proxies(env)})
}

func (o *sourceOptions) oci(ctx context.Context, env *environment.Environment) (bootstrap.Source, error) {
	prefix, isOCI := strings.CutPrefix(strings.TrimSuffix(o.url, "/"), "oci://")
	if !isOCI || o.contentTag == "" || o.chartTag == "" {
		return bootstrap.Source{}, fault.New(fault.Usage, "--source oci needs --source-url oci://HOST/PREFIX, --source-content-tag and --source-chart-tag",
			"`cluster-init publish oci://HOST/PREFIX ENVIRONMENT` fills a registry and prints them.")
	}
	s := bootstrap.Source{
		Kind:    bootstrap.SourceOCI,
		Content: flux.OCIArtifact{URL: "oci://" + prefix + "/cluster-init/content", Tag: o.contentTag, Insecure: o.insecure},
		Chart:   flux.OCIArtifact{URL: "oci://" + prefix + "/cluster-init/charts/telco-cloud-init", Tag: o.chartTag, Insecure: o.insecure},
	}
	for _, a := range []flux.OCIArtifact{s.Content, s.Chart} {
		err := artifact.VerifySource(ctx, artifact.Source{Kind: "oci", URL: a.URL, Tag: a.Tag, Insecure: a.Insecure, Proxies: proxies(env)})
		if err != nil {
			return bootstrap.Source{}, err
		}
	}
	var err error
	s.DockerConfig, err = dockerConfig(prefix)
	return s, err
}

func proxies(env *environment.Environment) artifact.Proxies {
	p := env.Proxies()
	return artifact.Proxies{HTTP: p.HTTP, HTTPS: p.HTTPS, No: p.NoProxy}
}
