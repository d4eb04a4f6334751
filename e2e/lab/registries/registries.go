// Package registries says whether the registries that `up` pulls from can be reached. It needs the standard library
// only, as the forecast of a cold machine is made before anything is compiled.
package registries

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// patience bounds the wait for one registry.
const patience = 5 * time.Second

// Answer reports whether each of the registries of the images that `up` pulls answers within five seconds, and as a
// registry does: 401 is how one asks for a token, 429 how one asks for patience, and anything else is most likely a
// proxy's.
func Answer(ctx context.Context) bool {
	hosts := []string{"registry.k8s.io", "ghcr.io", "quay.io", "registry-1.docker.io"}
	answers := make(chan bool)
	for _, host := range hosts {
		go func() { answers <- answer(ctx, "https://"+host+"/v2/") }()
	}
	all := true
	for range hosts {
		all = <-answers && all
	}
	return all
}

func answer(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	answers := []int{http.StatusOK, http.StatusUnauthorized, http.StatusTooManyRequests}
	return response.Body.Close() == nil && slices.Contains(answers, response.StatusCode)
}
