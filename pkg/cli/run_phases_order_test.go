package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Who gets the lock of a state folder is of the same holder as the run before: it must find the leases given back, and
// not wait for their end.
func TestTheLockIsGivenBackAfterTheLeases(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	var held []bool // whether the lock was, at each write of the lease
	var kept []byte
	var one sync.Mutex // one request at a time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodGet && kept == nil:
			w.WriteHeader(http.StatusNotFound)
			_,
				_ = io.WriteString(
				w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
			return
		case r.Method != http.MethodGet:
			var lease map[string]any
			if err := json.NewDecoder(r.Body).Decode(&lease); err != nil {
				t.Error(err)
			}
			kept, _ = json.Marshal(lease)
			if spec, _ := lease["spec"].(map[string]any); spec["holderIdentity"] == "me" {
				break // a renewal that the run has cancelled can arrive after its end
			}
			l, err := lock.Acquire(folder+".lock", lock.Holder{})
			held = append(held, fault.CodeOf(err) == fault.Busy)
			if err == nil {
				_ = l.Release()
			}
		}
		_, _ = w.Write(kept)
	}))
	defer server.Close()
	err := runPhases(t.Context(), &event.Recorder{}, "down", "demo", func(_ context.Context, leases *lease.Set) (
		*phaseRun, error) {
		return &phaseRun{folder: folder, outcome: func() outcome { return outcome{} },
			diagnosis: func() *diagnosis { return nil },
			phases: []pipeline.Phase{{Name: "look", Run: func(ctx context.Context, _ pipeline.Reporter) error {
				_, err := leases.Take(ctx,
					lease.Request{Config: &rest.Config{Host: server.URL,
						ContentConfig: rest.ContentConfig{ContentType: "application/json",
							AcceptContentTypes: "application/json"}}, Where: "x", Name: "cluster-init.ns.demo",
						Holder: "me", Timing: lease.DefaultTiming()})
				return err
			}}}}, nil
	}, nil)
	server.Close() // what its handlers have written can be read now
	if err != nil || len(held) != 1 || !held[0] {
		t.Errorf("%v; the lock was held when the lease was given back: %v, want true once", err, held)
	}
}
