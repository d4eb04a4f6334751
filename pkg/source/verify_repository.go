package source

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Repository is a Git repository over HTTP that components are read from, in addition to the source.
type Repository struct {
	URL, Username, Password string
	CA                      []byte // additional certificates (PEM) that may sign the server's
	Branch, Tag             string // that it must have; empty: not checked
}

// Verify checks that the repository can be read from here, and has the required branch or tag. Its errors are faults
// SourceUnreadable.
func (r Repository) Verify(ctx context.Context, proxies content.Proxies) error {
	return r.asSource().Verify(ctx, proxies)
}

func (r Repository) asSource() Source {
	git := flux.GitSource{URL: r.URL, Branch: r.Branch, Tag: r.Tag}
	return Source{Kind: Git, Git: git, Username: r.Username, Password: r.Password, CA: r.CA}
}
