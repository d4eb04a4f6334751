package bootstrap

import (
	"slices"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

func TestATransferSaysBytesAndRate(t *testing.T) {
	notes := &pipeline.Notes{}
	tell := progress(notes, "pushing", "pushed")
	for _, s := range []bundle.Step{
		{Done: 0, Total: 2, What: "a:v1", Size: 10 << 20},
		{Done: 0, Total: 2, What: "a:v1", Size: 10 << 20, Sent: 5 << 20, Elapsed: 2 * time.Second},
		{Done: 1, Total: 2, What: "b:v1", Size: 1500},
		{Done: 2, Total: 2, Sent: 21 << 19, Elapsed: 4200 * time.Millisecond},
		{Done: 2, Total: 2}, // nothing had to be sent
	} {
		tell(s)
	}
	want := []string{"pushing 1 of 2: a:v1 (10.0 MiB)", "pushing 1 of 2: a:v1, 5.0 MiB of 10.0 MiB (2.5 MiB/s)",
		"pushing 2 of 2: b:v1 (2 KiB)", "pushed 10.5 MiB in 4.2s (2.5 MiB/s)"}
	if !slices.Equal(notes.Seen, want) {
		t.Errorf("%q, want %q", notes.Seen, want)
	}
}
