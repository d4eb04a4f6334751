package docker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// Pull makes the engine pull an image, with the docker CLI's credentials for its registry, and reports how many bytes
// of its layers have arrived, of how many, or 0 if that is not known yet. The CLI itself reports it only on a terminal.
func (c *Client) Pull(ctx context.Context, reference string, progress func(come, all int64)) error {
	if err := c.pull(ctx, reference, progress); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("pull image %s: %w", reference, err)
	}
	return nil
}

func (c *Client) pull(ctx context.Context, reference string, progress func(come, all int64)) error {
	// as the CLI parses it
	if trust, err := strconv.ParseBool(cmp.Or(c.variable("DOCKER_CONTENT_TRUST"), "0")); err != nil || trust {
		return errors.New("DOCKER_CONTENT_TRUST is set: only the docker CLI itself checks signatures")
	}
	image, err := name.ParseReference(reference)
	if err != nil {
		return err
	}
	credentials, err := registryAuth(ctx, image.Context())
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://docker/images/create?"+
		pullQuery(image, c.variable("DOCKER_DEFAULT_PLATFORM")).Encode(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("X-Registry-Auth", credentials)
	engine, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (
		net.Conn, error) {
		return engine, nil
	}}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		engine.Close()
		return errors.Join(err, engine.lastWords())
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
		return errors.Join(fmt.Errorf("the Docker engine answers %s: %s", answer.Status, bytes.TrimSpace(text)), err)
	}
	if err := follow(answer.Body, progress); err != nil {
		engine.Close()
		return errors.Join(err, engine.lastWords())
	}
	return nil
}

// pullQuery names an image as the engine's API wants it; of one with tag and digest the digest counts. An empty
// platform is the engine's own.
func pullQuery(image name.Reference, platform string) url.Values {
	host := image.Context().RegistryStr()
	if host == name.DefaultRegistry {
		host = "docker.io"
	}
	query := url.Values{"fromImage": {host + "/" + image.Context().RepositoryStr()}, "tag": {image.Identifier()}}
	if platform != "" {
		query.Set("platform", platform)
	}
	return query
}

// registryAuth are the docker CLI's credentials for a registry, in the form of the engine's API.
func registryAuth(ctx context.Context, registry authn.Resource) (string, error) {
	config, err := credentials(ctx, registry)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]string{"username": config.Username, "password": config.Password,
		"identitytoken": config.IdentityToken,
		"registrytoken": config.RegistryToken, "serveraddress": registry.RegistryStr()})
	return base64.URLEncoding.EncodeToString(text), err
}

// credentials are those of the docker CLI, which may ask a credential helper, a program that cannot be given a
// deadline: ctx ends the wait for it, and not the program. What a helper that fails has printed is in no error, as it
// may be the credentials.
func credentials(ctx context.Context, registry authn.Resource) (*authn.AuthConfig, error) {
	type answer struct {
		config *authn.AuthConfig
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		keys, err := authn.Resolve(ctx, authn.DefaultKeychain, registry)
		if err != nil {
			answered <- answer{nil, err}
			return
		}
		config, err := authn.Authorization(ctx, keys)
		answered <- answer{config, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case a := <-answered:
		if a.err != nil {
			return nil, fmt.Errorf("the docker CLI's credentials for %s cannot be read", registry.RegistryStr())
		}
		return a.config, nil
	}
}

// follow reads the engine's progress messages of a pull.
func follow(said io.Reader, progress func(come, all int64)) error {
	layers := map[string]*layer{}
	decoder := json.NewDecoder(said)
	for {
		var line struct {
			ID, Status, Error string
			ErrorDetail       struct{ Message string }
			ProgressDetail    struct{ Current, Total int64 }
		}
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if problem := cmp.Or(line.ErrorDetail.Message, line.Error); problem != "" {
			return errors.New(problem)
		}
		if line.ID == "" || strings.HasPrefix(line.Status, "Pulling from ") { // of the image itself
			continue
		}
		l := layers[line.ID]
		if l == nil {
			l = &layer{}
			layers[line.ID] = l
		}
		if l.update(line.Status, line.ProgressDetail.Current, line.ProgressDetail.Total) {
			progress(sum(layers))
		}
	}
}

// layer is the progress of one layer.
type layer struct {
	come, all int64
	known     bool // whether its size is known, or nothing has to come
}

// update reads a line about the layer, and reports whether it was about its download.
func (l *layer) update(status string, current, total int64) bool {
	switch status {
	case "Downloading":
		l.come = current
		if total > 0 {
			l.all, l.known = total, true
		}
		return true
	case "Already exists":
		l.known = true
	case "Download complete", "Pull complete":
		l.all = max(l.all, l.come)
		l.come, l.known = l.all, true
		return true
	}
	return false
}

// sum returns how much of all layers has arrived, and of how much: 0 while the size of one is not known.
func sum(layers map[string]*layer) (come, all int64) {
	known := true
	for _, l := range layers {
		come += l.come
		all += l.all
		known = known && l.known
	}
	if !known {
		all = 0
	}
	return come, all
}
