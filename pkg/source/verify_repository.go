package source

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Repository is a Git repository over HTTP that components are read from, besides the source.
type Repository struct {
	URL, Username, Password string
	CA                      []byte // certificates (PEM) of who signed the server's, besides the usual ones
	Branch, Tag             string // that it must have; empty: whatever it has
}

// Verify checks that the repository can be read from here, and has what it must have. Its errors are faults
// SourceUnreadable.
func (r Repository) Verify(ctx context.Context, proxies content.Proxies) error {
	return r.asSource().Verify(ctx, proxies)
}

func (r Repository) asSource() Source {
	git := flux.GitSource{URL: r.URL, Branch: r.Branch, Tag: r.Tag}
	return Source{Kind: Git, Git: git, Username: r.Username, Password: r.Password, CA: r.CA}
}
