package lease

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ID returns the id of a state folder on this machine. Only one run at a time can hold the lock of that folder. The id
// is empty if no run has created one. A copy of the folder on another machine has another id.
func ID(stateFolder string) (string, error) {
	content, err := os.ReadFile(idPath(stateFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("read the state folder's id: %w", err), fault.Usage,
			"Set XDG_STATE_HOME to a folder of your own.")
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("get the host name: %w", err)
	}
	machine, err := os.ReadFile("/etc/machine-id") // not every system, or container, has one
	if err != nil {
		machine = nil
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(string(content)) + "\n" + host + "\n" + string(machine)))
	return hex.EncodeToString(sum[:8]), nil
}

// MakeID returns the id of a state folder, and creates the folder and the id if they are missing. The caller holds the
// folder's lock.
func MakeID(stateFolder string) (string, error) {
	id, err := ID(stateFolder)
	if err != nil || id != "" {
		return id, err
	}
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("create the id of the state folder: %w", err)
	}
	if err := os.MkdirAll(stateFolder, 0o700); err != nil {
		return "", fmt.Errorf("create the state folder: %w", err)
	}
	// A half-written id is an id as well.
	if err := os.WriteFile(idPath(stateFolder), []byte(hex.EncodeToString(random)+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the state folder's id: %w", err)
	}
	return ID(stateFolder)
}

func idPath(stateFolder string) string { return filepath.Join(stateFolder, "id") }

// Holder names the holder of a lease, for people too. It is the same for all runs of one user with one state folder on
// one machine.
func Holder(id string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("get the host name: %w", err)
	}
	name := "unknown" // a container's user may have no entry
	if current, err := user.Current(); err == nil {
		name = current.Username
	}
	return fmt.Sprintf("%s@%s (%s)", name, host, id), nil
}
