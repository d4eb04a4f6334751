package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestCodeHintAndRetry(t *testing.T) {
	disk := fault.New(fault.HostResources, "too little disk", "buy disk")
	port := fault.New(fault.PortTaken, "port taken", "free it")
	again := fault.Retryable(errors.New("slow"), fault.Timeout, "wait")
	bare := fault.New(fault.DockerFailed, "docker said no", "")
	cases := map[string]struct {
		err   error
		code  fault.Code
		hint  string
		retry bool
	}{
		"none":  {nil, "", "", false},
		"plain": {errors.New("x"), fault.Unknown, "", false},
		"one":   {disk, fault.HostResources, "buy disk", false},
		"with words before it": {fmt.Errorf("preflight: %w", disk), fault.HostResources, "buy disk",
			false},
		"the outer one wins": {fault.Wrap(disk, fault.ClusterFailed, "look"), fault.ClusterFailed,
			"look", false},
		"the inner hint when outer has none": {fault.Wrap(disk, fault.ClusterFailed, ""), fault.ClusterFailed,
			"buy disk", false},
		"several at once": {fmt.Errorf("preflight: %w", errors.Join(disk, port)),
			fault.HostResources, "buy disk\nfree it", false},
		"the same hint once":            {errors.Join(disk, disk), fault.HostResources, "buy disk", false},
		"one of them without a hint":    {errors.Join(bare, port), fault.DockerFailed, "free it", false},
		"joined with a plain error":     {errors.Join(errors.New("x"), port), fault.PortTaken, "free it", false},
		"joined with the context error": {errors.Join(again, context.Canceled), fault.Timeout, "wait", true},
		"all of several can be retried": {errors.Join(again, again), fault.Timeout, "wait", true},
		"one of several cannot":         {errors.Join(again, port), fault.Timeout, "wait\nfree it", false},
		"a retry further in": {fault.Wrap(again, fault.ComponentStuck, "look"), fault.ComponentStuck,
			"look", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fault.CodeOf(tc.err); got != tc.code {
				t.Errorf("code %q, want %q", got, tc.code)
			}
			if got := fault.HintOf(tc.err); got != tc.hint {
				t.Errorf("hint %q, want %q", got, tc.hint)
			}
			if got := fault.CanRetry(tc.err); got != tc.retry {
				t.Errorf("retry %v, want %v", got, tc.retry)
			}
		})
	}
}
