// Package fault gives an error a stable code, a hint for its reader, and says whether a retry may help.
// The message says what failed on which object; the hint, kept apart from it, says what to do.
package fault

import (
	"errors"
	"slices"
	"strings"
)

// Code names a kind of failure, as "what" or "area/what". Codes are part of the CLI's contract: JSON output carries
// them and pkg/cli maps them to exit codes. A code, once released, keeps its meaning.
type Code string

// The codes that exist. A new kind of failure gets a line here and one in the exit-code table of pkg/cli.
const (
	Unknown              Code = "unknown"
	Usage                Code = "usage"
	Interrupted          Code = "interrupted"
	EnvironmentUnknown   Code = "environment/unknown"
	EnvironmentInvalid   Code = "environment/invalid"
	ValuesInvalid        Code = "values/invalid"
	VariableMissing      Code = "variable/missing"
	CredentialsMissing   Code = "credentials/missing"
	ComponentUnknown     Code = "component/unknown"
	ComponentCycle       Code = "component/cycle"
	ComponentStuck       Code = "component/stuck"
	DockerUnreachable    Code = "docker/unreachable"
	DockerPrivileged     Code = "docker/privileged"
	DockerFailed         Code = "docker/failed"
	HostResources        Code = "host/resources"
	PortTaken            Code = "port/taken"
	ClusterForeign       Code = "cluster/foreign"
	ClusterFailed        Code = "cluster/failed"
	ClusterUnreachable   Code = "cluster/unreachable"
	Busy                 Code = "cluster/busy"
	ChangeRefused        Code = "change/refused"
	KubeconfigRefused    Code = "kubeconfig/refused"
	MachineUnreachable   Code = "machine/unreachable"
	BundleInvalid        Code = "bundle/invalid"
	SourceUnreadable     Code = "source/unreadable"
	PivotRefused         Code = "pivot/refused"
	PivotFailed          Code = "pivot/failed"
	BackupRefused        Code = "backup/refused"
	BackupInvalid        Code = "backup/invalid"
	BackupIncomplete     Code = "backup/incomplete"
	BackupNotPruned      Code = "backup/not-pruned"
	RestoreRefused       Code = "restore/refused"
	RestoreFailed        Code = "restore/failed"
	Timeout              Code = "timeout"
	CloudUnreachable     Code = "cloud/unreachable"
	CloudRefused         Code = "cloud/refused"
	CloudLacks           Code = "cloud/lacks"
	CleanupFailed        Code = "cleanup/failed"
	CleanupRefused       Code = "cleanup/refused"
	ConfirmationRequired Code = "confirmation/required"
	StatusProgressing    Code = "status/progressing"
	StatusAbsent         Code = "status/absent"
	StatusBroken         Code = "status/broken"
	RunUnknown           Code = "run/unknown"
	RunUnreadable        Code = "run/unreadable"
	Differs              Code = "diff/found"
)

// Fault is an error with a code and a hint. It wraps its cause, so errors.Is and errors.As see through it.
type Fault struct {
	Code  Code
	Hint  string
	Retry bool // whether running the same command again may help without any other change
	Err   error
}

// Error returns the message of the cause only: codes and hints are for the views.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// New returns a fault with a message.
func New(code Code, message, hint string) error {
	return &Fault{Code: code, Hint: hint, Err: errors.New(message)}
}

// Wrap gives err a code and a hint; nil stays nil. Message context belongs into err (fmt.Errorf with %w).
func Wrap(err error, code Code, hint string) error {
	if err == nil {
		return nil
	}
	return &Fault{Code: code, Hint: hint, Err: err}
}

// Retryable marks err as one that may not recur when the same command runs again; nil stays nil.
func Retryable(err error, code Code, hint string) error {
	if err == nil {
		return nil
	}
	return &Fault{Code: code, Hint: hint, Retry: true, Err: err}
}

// CodeOf returns the code of the outermost fault in err's chain, Unknown when there is none, "" for nil. Of several
// joined faults it is the first one's.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Code
	}
	return Unknown
}

// CodeOr returns the code of err, or other if that code is Unknown.
func CodeOr(err error, other Code) Code {
	if code := CodeOf(err); code != Unknown {
		return code
	}
	return other
}

// HintOf returns the hint of the outermost fault in err's chain that has one. If err joins several causes with no hint
// above them, it returns the hint of each: one per line, in order, without duplicates.
func HintOf(err error) string {
	var hints []string
	collectHints(err, &hints)
	return strings.Join(hints, "\n")
}

func collectHints(err error, hints *[]string) {
	if f, ok := err.(*Fault); ok && f.Hint != "" { //nolint:errorlint // it walks the tree, one error at a time
		if !slices.Contains(*hints, f.Hint) {
			*hints = append(*hints, f.Hint)
		}
		return
	}
	for _, cause := range causes(err) {
		collectHints(cause, hints)
	}
}

// CanRetry reports whether running the same command again may help: a fault in err's chain is retryable. Of several
// joined faults all must be, because each of them stops the next run.
func CanRetry(err error) bool {
	retry, _ := canRetry(err)
	return retry
}

// canRetry also reports whether err's tree contains any fault.
func canRetry(err error) (retry, isFault bool) {
	f, ok := err.(*Fault) //nolint:errorlint // it walks the tree, one error at a time
	if ok && f.Retry {
		return true, true
	}
	isFault, retry = ok, true
	causeHasFault := false
	for _, cause := range causes(err) {
		causeRetry, causeIsFault := canRetry(cause)
		if causeIsFault {
			causeHasFault, retry = true, retry && causeRetry
		}
	}
	return causeHasFault && retry, isFault || causeHasFault
}

// causes returns what err wraps directly.
func causes(err error) []error {
	switch e := err.(type) { //nolint:errorlint // only what err itself wraps
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			return []error{cause}
		}
	}
	return nil
}
