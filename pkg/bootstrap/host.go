package bootstrap

import (
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// host is what preflight reads from this machine. False means not known: then preflight does not check it.
type host struct {
	name         string // as the Docker engine of this machine reports it
	freeBytes    func(folder string) (int64, bool)
	inotifyLimit func(name string) (int, bool)
	listen       func(port int32) error // nil: the port of the loopback address is free
}

// thisMachine reads the real one.
func thisMachine() host {
	name, _ := os.Hostname() // without a name, disk space and inotify limits are not checked
	return host{name: name, freeBytes: freeBytes, inotifyLimit: inotifyLimit, listen: listen}
}

func freeBytes(folder string) (int64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true // Bsize has another type on macOS
}

func inotifyLimit(name string) (int, bool) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil { // not Linux
		return 0, false
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return limit, err == nil
}

func listen(port int32) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	return l.Close()
}
