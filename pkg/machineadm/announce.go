package machineadm

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

const (
	// LinePrefix begins each line for the console and the journal. It has the version of their form.
	LinePrefix = "machineadm[v1]: "
	// FailedPrefix follows in a line about a failure.
	FailedPrefix = "failed: "
)

// maxLine is the length of the longest text in a line or a report, in characters.
const maxLine = 600

const journalSocket = "/run/systemd/journal/socket"

// writeTimeout is for one message to the journal, which can be full.
const writeTimeout = 2 * time.Second

// Lines are the places that get the outcome as one line.
type Lines struct {
	// Errors is the standard error of machineadm.
	Errors io.Writer
	// Console is the path of the machine's console, and Journal that of the journal's socket. Empty means none.
	Console, Journal string
}

// outcome writes one line. It ignores errors of the console and the journal, because the Report has the outcome too.
func (l Lines) outcome(text string) {
	line := LinePrefix + oneline.Of(text, maxLine)
	_, _ = fmt.Fprintln(l.Errors, line)
	if l.Console != "" {
		// Without O_NONBLOCK a serial console without a reader would stop the machine.
		const flags = os.O_WRONLY | os.O_APPEND | syscall.O_NOCTTY | syscall.O_NONBLOCK
		if console, err := os.OpenFile(l.Console, flags, 0); err == nil {
			_, _ = console.WriteString(line + "\n")
			_ = console.Close()
		}
	}
	if l.Journal != "" {
		if journal, err := net.Dial("unixgram", l.Journal); err == nil {
			_ = journal.SetDeadline(time.Now().Add(writeTimeout))
			_, _ = fmt.Fprintf(journal, "SYSLOG_IDENTIFIER=machineadm\nPRIORITY=5\nMESSAGE=%s\n", line)
			_ = journal.Close()
		}
	}
}
