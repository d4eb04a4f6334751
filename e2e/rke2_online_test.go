//go:build e2e && online

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestUpRKE2Online has the machines install the real RKE2 from the internet: no bundle, and no stand-in anywhere.
func TestUpRKE2Online(t *testing.T) {
	l := lab{name: rke2Name, binary: os.Getenv("CLUSTER_INIT"), state: t.TempDir()}
	l.environment = []string{"XDG_STATE_HOME=" + l.state}
	for _, address := range []string{"https://get.rke2.io", "https://registry.k8s.io/v2/", "https://github.com"} {
		if err := answers(t.Context(), address); err != nil {
			missing(t, fmt.Sprintf("the real RKE2 needs the internet: %v", err))
		}
	}
	cleanBefore(t, l)
	if code, _ := l.run(t, "up", rke2Name); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	l.built(t, management)
	for _, machine := range boots(t, rke2Name) {
		if version := docker(t, "exec", machine.container, "rke2", "--version"); strings.Contains(version, "standin") {
			t.Errorf("the machine runs %s", version)
		}
	}
	cleanup(t, l)
}

// answers asks an address for anything at all.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
