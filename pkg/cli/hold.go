package cli

import (
	"os"
	"time"

	"github.com/cluster-init/cluster-init/pkg/lock"
)

// hold takes the lock of the cluster whose state folder it is, for a command. The lock is beside the folder: cleanup
// deletes that.
func hold(folder, command string) (*lock.Lock, error) {
	host, _ := os.Hostname() // without a name the process number has to do
	return lock.Acquire(folder+".lock", lock.Holder{Command: command, Host: host, PID: os.Getpid(), Since: time.Now()})
}
