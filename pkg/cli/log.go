package cli

import (
	"crypto/rand"
	"io"
	"os"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// sanitized returns streams that drop control characters and disarm commands for CI systems. Err also masks secrets.
// The returned function lets the CI system obey commands again.
func sanitized(raw, s Streams) (Streams, func()) {
	out, err := logOf(raw.Out), logOf(raw.Err)
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		err.StopToken = rand.Text()
	}
	writer := oneline.NewWriter(s.Err, err, s.known.text)
	s.binary = s.Out
	s.Out = oneline.NewWriter(s.Out, out, nil)
	s.Err = onScreen(raw.Err, s.Err, writer, s.known.text)
	return s, func() { within(func() { _ = writer.Close() }) }
}

// logOf returns how a CI system reads a stream. It reads no commands from a regular file.
func logOf(stream io.Writer) oneline.Log {
	if file, is := stream.(*os.File); is {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return oneline.Log{}
		}
	}
	for _, variable := range []string{"GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"} {
		if os.Getenv(variable) != "" {
			return oneline.Log{Obeys: true}
		}
	}
	return oneline.Log{}
}
