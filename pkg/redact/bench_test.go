package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/redact"
)

// BenchmarkText redacts a log of a megabyte with as many secrets as two clusters have. It verifies no limit, but shows
// the cost of collecting.
func BenchmarkText(b *testing.B) {
	r := redact.New()
	for i := range 300 {
		r.Add(fmt.Sprintf("secret-%d-%x", i, i*7919), strings.Repeat(fmt.Sprint(i), 200))
	}
	line := `{"level":"info","ts":"2026-01-02T03:04:05.123Z","msg":"Reconciled \"flux-system/capi\"","url":"https://172.18.0.3:6443/a%2Fb","controller":"kustomization"}` + "\n"
	text := strings.Repeat(line, (1<<20)/len(line))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if r.Text(text) != text {
			b.Fatal("it takes a word for a secret")
		}
	}
}
