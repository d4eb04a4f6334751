package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

const (
	questionAttempts = 3
	questionPause    = time.Second // before the second attempt; the next ones wait longer
)

// read reads all pages of a list and makes resources of its rows.
func read[T any](ctx context.Context, service *gophercloud.ServiceClient, path, key string, query url.Values,
	of func(T) entry) ([]entry, error) {
	rows, err := readRows[T](ctx, service, path, key, query)
	if err != nil {
		return nil, err
	}
	resources := make([]entry, 0, len(rows))
	for _, row := range rows {
		resources = append(resources, of(row))
	}
	return resources, nil
}

func readRows[T any](ctx context.Context, service *gophercloud.ServiceClient, path, key string, query url.Values) (
	[]T, error) {
	var all []T
	seen := map[string]bool{}
	for next := query.Encode(); ; {
		seen[next] = true
		page, err := readPage(ctx, service, service.ServiceURL(path)+"?"+next)
		if errors.Is(err, openstack.ErrNotFound) && len(all) > 0 { // the list itself exists
			err = errors.New("the next page no longer exists")
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", path, err)
		}
		var rows []T
		if err := json.Unmarshal(page[key], &rows); err != nil {
			return nil, fmt.Errorf("listing %s: reading the answer: %w", path, err)
		}
		all = append(all, rows...)
		following, err := nextPage(page[key+"_links"])
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", path, err)
		}
		if following == "" {
			return all, nil
		}
		if len(rows) == 0 || seen[following] {
			return nil, fmt.Errorf("listing %s: the cloud's link to the next page leads nowhere new", path)
		}
		next = following
	}
}

// errNextPage reports that a list is not complete. It does not quote the link.
var errNextPage = errors.New("the cloud's link to the next page cannot be read")

// nextPage returns the query of the next page. Empty means there is none. Only the query counts: behind a proxy, the
// rest of the link may be an address that cannot be reached.
func nextPage(links json.RawMessage) (string, error) {
	if links == nil { // most lists have none
		return "", nil
	}
	var all []struct{ Rel, Href string }
	if json.Unmarshal(links, &all) != nil {
		return "", errNextPage
	}
	for _, l := range all {
		if l.Rel != "next" {
			continue
		}
		address, err := url.Parse(l.Href)
		if err != nil {
			return "", errNextPage
		}
		query, err := url.ParseQuery(address.RawQuery)
		if err != nil || len(query) == 0 {
			return "", errNextPage
		}
		return query.Encode(), nil
	}
	return "", nil
}

func readPage(ctx context.Context, service *gophercloud.ServiceClient, address string) (map[string]json.RawMessage,
	error) {
	pause := questionPause
	for attempt := 1; ; attempt++ {
		page, err := readOnce(ctx, service, address)
		if err == nil || attempt == questionAttempts || !openstack.Temporary(err) {
			return page, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
			pause *= 2
		}
	}
}

func readOnce(ctx context.Context, service *gophercloud.ServiceClient, address string) (map[string]json.RawMessage,
	error) {
	var page map[string]json.RawMessage
	_, err := service.Get(ctx, address, &page, nil)
	return page, openstack.Answer(err)
}
