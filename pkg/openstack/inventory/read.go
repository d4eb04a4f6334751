package inventory

import (
	"context"
	"encoding/json"
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
	for next := query; ; {
		page, err := readPage(ctx, service, service.ServiceURL(path)+"?"+next.Encode())
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", path, err)
		}
		var rows []T
		if err := json.Unmarshal(page[key], &rows); err != nil {
			return nil, fmt.Errorf("listing %s: reading the answer: %w", path, err)
		}
		all = append(all, rows...)
		following := nextPage(page[key+"_links"])
		if following == nil {
			return all, nil
		}
		if len(rows) == 0 || following.Encode() == next.Encode() {
			return nil, fmt.Errorf("listing %s: the cloud's link to the next page leads nowhere new", path)
		}
		next = following
	}
}

// nextPage returns the query of the next page, nil when there is none. Only the query counts: behind a proxy, the rest
// of the link may be an address that cannot be reached.
func nextPage(links json.RawMessage) url.Values {
	var all []struct{ Rel, Href string }
	if json.Unmarshal(links, &all) != nil { // most lists have none
		return nil
	}
	for _, l := range all {
		if l.Rel != "next" {
			continue
		}
		if u, err := url.Parse(l.Href); err == nil {
			return u.Query()
		}
	}
	return nil
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
