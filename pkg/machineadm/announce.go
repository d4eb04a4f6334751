package machineadm

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// linePrefix begins each line for the console and the journal, with the version of its form.
const linePrefix = "machineadm[v1]: "

// maxLine is the longest line, in bytes.
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

// outcome writes one line. A console or a journal that the machine does not have is no failure: the Report is a file.
func (l Lines) outcome(text string) {
	line := linePrefix + oneLine(text)
	_, _ = fmt.Fprintln(l.Errors, line)
	if l.Console != "" {
		// Not blocking: a serial console that nobody reads must not stop a machine.
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

// oneLine makes a text fit for a console: one line of limited length without control characters.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "..."
	}
	return text
}
