package cli

import (
	"crypto/rand"
	"io"
	"os"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// sanitized returns streams on which words of others are harmless: no control characters, no commands for the CI system
// that keeps the log, and on Err no secrets. The last call has that system obey what comes after this program.
func sanitized(raw, s Streams) (Streams, func()) {
	out, err := logOf(raw.Out), logOf(raw.Err)
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		err.StopToken = rand.Text()
	}
	writer := oneline.NewWriter(s.Err, err, s.known.text)
	s.binary = s.Out
	s.Out = oneline.NewWriter(s.Out, out, nil)
	s.Err = onScreen(raw.Err, s.Err, writer, s.known.text)
	return s, func() { _ = writer.Close() }
}

// logOf says who reads a stream for commands. What goes to a file is data.
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
