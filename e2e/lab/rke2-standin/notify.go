package main

import (
	"fmt"
	"net"
	"os"
)

// notify tells systemd something, such as READY=1, in the protocol of sd_notify(3). Without systemd it does nothing.
func notify(message string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := connection.Write([]byte(message)); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}
