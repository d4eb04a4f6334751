package source

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Repository is a Git repository over HTTP that components are read from, besides the source.
type Repository struct {
	URL, Username, Password string
	Branch, Tag             string // that it must have; empty: whatever it has
}

// Verify checks that the repository can be read from here, and has what it must have. Its errors are faults SourceUnreadable.
func (r Repository) Verify(ctx context.Context, proxies content.Proxies) error {
	via := throughProxies(proxies)
	defer via.CloseIdleConnections()
	return r.verify(ctx, via)
}

func (r Repository) verify(ctx context.Context, via http.RoundTripper) error {
	s := Source{Kind: Git, Git: flux.GitSource{URL: r.URL}, Username: r.Username, Password: r.Password}
	return s.ask(ctx, r.URL, func(ctx context.Context) error {
		refs, err := s.referencesOverHTTP(ctx, r.URL, via)
		switch {
		case err != nil:
			return err
		case r.Branch != "" && !advertises(refs, "refs/heads/"+r.Branch):
			return &noBranchError{r.Branch}
		case r.Tag != "" && !advertises(refs, "refs/tags/"+r.Tag):
			return fmt.Errorf("it has no tag %s", r.Tag)
		}
		return nil
	})
}
