package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
)

// item is what the lab reads of any resource.
type item struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DeviceOwner string `json:"device_owner"` // of a port
	DeviceID    string `json:"device_id"`    // of a port
}

// list returns a collection: path may carry a query, key is the name under which the answer holds it. It asks for one
// page, which is more than the lab has.
func list[T any](ctx context.Context, client *gophercloud.ServiceClient, path, key string) ([]T, error) {
	var answer map[string]json.RawMessage
	if _, err := client.Get(ctx, client.ServiceURL(path), &answer, nil); err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	var items []T
	if err := json.Unmarshal(answer[key], &items); err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	return items, nil
}

// find returns the id of the resource with this name, "" when there is none.
func find(ctx context.Context, client *gophercloud.ServiceClient, path, key, name string) (string, error) {
	items, err := list[item](ctx, client, path, key)
	if err != nil {
		return "", err
	}
	for _, candidate := range items {
		if candidate.Name == name {
			return candidate.ID, nil
		}
	}
	return "", nil
}

// ensure returns the id of the resource with the name in body, which it creates when there is none. Its collection's
// key is the kind with an s.
func ensure(ctx context.Context, client *gophercloud.ServiceClient, path, kind string, body map[string]any) (
	string, error) {
	name := fmt.Sprint(body["name"])
	if id, err := find(ctx, client, path, kind+"s", name); err != nil || id != "" {
		return id, err
	}
	id, err := create(ctx, client, path, kind, body)
	if err != nil {
		return "", fmt.Errorf("create %s %s: %w", kind, name, err)
	}
	return id, nil
}

// create creates a resource and returns its id.
func create(ctx context.Context, client *gophercloud.ServiceClient, path, kind string, body map[string]any) (
	string, error) {
	var answer map[string]item
	_, err := client.Post(ctx, client.ServiceURL(path), map[string]any{kind: body}, &answer,
		accept(http.StatusOK, http.StatusCreated, http.StatusAccepted))
	return answer[kind].ID, err
}

// accept returns options of a request to which only these answers are good.
func accept(codes ...int) *gophercloud.RequestOpts { return &gophercloud.RequestOpts{OkCodes: codes} }

// notFound reports whether the cloud answered that there is no such thing.
func notFound(err error) bool { return gophercloud.ResponseCodeIs(err, http.StatusNotFound) }
