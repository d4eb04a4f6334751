package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/artifact"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

// sourceOptions are the flags that say where Flux reads the content from.
type sourceOptions struct {
	kind, url, branch, commit, sshKey, knownHosts, contentTag, chartTag string
	insecure                                                            bool
}

func (o *sourceOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.kind, "source", "embedded", "where Flux reads from: embedded (this binary's content), git or oci")
	f.StringVar(&o.url, "source-url", "", "git: URL of the repository (https://, ssh:// or git@HOST:PATH); oci: oci://HOST/PREFIX that cluster-init publish filled")
	f.StringVar(&o.branch, "source-branch", "", "git: branch to follow (default without a commit: main)")
	f.StringVar(&o.commit, "source-commit", "", "git: commit to stay at (default: $CURRENT_COMMIT)")
	f.StringVar(&o.sshKey, "source-ssh-key", "", "git over ssh: file of the private key; $"+sshPassphrase+" opens an encrypted one")
	f.StringVar(&o.knownHosts, "source-known-hosts", "", "git over ssh: file with the server's key, as ssh-keyscan prints it")
	f.StringVar(&o.contentTag, "source-content-tag", "", "oci: tag of the content, as cluster-init publish printed it")
	f.StringVar(&o.chartTag, "source-chart-tag", "", "oci: tag of the chart, as cluster-init publish printed it")
	f.BoolVar(&o.insecure, "source-insecure", false, "oci: the registry speaks plain HTTP")
}

// source checks that the source can be read; check has passed.
func (o *sourceOptions) source(ctx context.Context, env *environment.Environment) (bootstrap.Source, error) {
	switch bootstrap.SourceKind(o.kind) {
	case bootstrap.SourceGit:
		return o.git(ctx, env)
	case bootstrap.SourceOCI:
		return o.oci(ctx, env)
	}
	return bootstrap.Source{Kind: bootstrap.SourceEmbedded}, nil
}

func (o *sourceOptions) git(ctx context.Context, env *environment.Environment) (bootstrap.Source, error) {
	commit := o.commit
	if commit == "" {
		commit = os.Getenv("CURRENT_COMMIT")
	}
	address, overSSH := artifact.GitAddress(o.url)
	s := bootstrap.Source{Kind: bootstrap.SourceGit, Git: flux.GitSource{URL: address, Branch: o.branch, Commit: commit}}
	if s.Git.Branch == "" && s.Git.Commit == "" {
		s.Git.Branch = "main"
	}
	if overSSH {
		var err error
		if s.SSH, err = artifact.ReadSSHKey(o.sshKey, o.knownHosts, os.Getenv(sshPassphrase)); err != nil {
			return bootstrap.Source{}, err
		}
	} else {
		s.Username, s.Password = os.Getenv("GITLAB_USER"), os.Getenv("GITLAB_TOKEN")
	}
	return s, artifact.VerifySource(ctx, artifact.Source{
		Kind: "git", URL: address, Branch: o.branch, Username: s.Username, Password: s.Password, SSH: s.SSH, Proxies: proxies(env)})
}

func (o *sourceOptions) oci(ctx context.Context, env *environment.Environment) (bootstrap.Source, error) {
	prefix := strings.TrimPrefix(strings.TrimSuffix(o.url, "/"), "oci://")
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
	p := env.Spec().Proxies
	return artifact.Proxies{HTTP: p.HTTP, HTTPS: p.HTTPS, No: env.NoProxy()}
}
