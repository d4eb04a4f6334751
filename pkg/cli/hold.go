package cli

import (
	"os"
	"time"

	"github.com/cluster-init/cluster-init/pkg/lock"
)

// hold takes the lock of a cluster for a command. The lock is next to the state folder, because cleanup deletes that
// folder.
func hold(folder, command string) (*lock.Lock, error) {
	host, _ := os.Hostname() // without a name the PID must be enough
	return lock.Acquire(folder+".lock", lock.Holder{Command: command, Host: host, PID: os.Getpid(), Since: time.Now()})
}
