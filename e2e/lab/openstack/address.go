package openstack

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

// addressMark says that the address is the lab's to remove.
func (l *Lab) addressMark() string { return filepath.Join(l.dir, "address") }

// addAddress puts the lab's address on the loopback interface, unless this machine has it.
func (l *Lab) addAddress(ctx context.Context) error {
	if has, err := hasAddress(); err != nil || has {
		return err
	}
	if err := host.Install(ctx, "ip", "iproute2"); err != nil {
		return err
	}
	if err := mark(l.addressMark()); err != nil {
		return err
	}
	_, err := host.Run(ctx, host.Command{Name: "ip", Args: []string{"address", "add", Address + "/32", "dev", "lo"}})
	return err
}

// removeAddress takes the address away again when the lab has added it.
func (l *Lab) removeAddress(ctx context.Context) error {
	if !exists(l.addressMark()) {
		return nil
	}
	has, err := hasAddress()
	if err != nil {
		return err
	}
	if has {
		if _, err := host.Run(ctx, host.Command{Name: "ip", Args: []string{"address", "del", Address + "/32", "dev",
			"lo"}}); err != nil {
			return err
		}
	}
	return unmark(l.addressMark())
}

// hasAddress reports whether this machine has the lab's address.
func hasAddress() (bool, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false, fmt.Errorf("list this machine's addresses: %w", err)
	}
	for _, address := range addresses {
		if strings.HasPrefix(address.String(), Address+"/") {
			return true, nil
		}
	}
	return false, nil
}
