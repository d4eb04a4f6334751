package ssh

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Destination is a machine, as the OpenSSH client names it. Make one with Parse.
type Destination struct{ text string }

var (
	// userForm has no "-" at its start, and no character that a shell or ssh itself reads.
	userForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)
	// hostForm is a name in the DNS, an IPv4 address, or a Host of the user's ssh configuration.
	hostForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$`)
	// zoneForm is the zone of an IPv6 address: the name of a network interface.
	zoneForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,15}$`)
)

const hintDestination = "Give USER@ADDRESS, or a Host of your ssh configuration. A port, a jump host or an unusual " +
	"user belongs in ~/.ssh/config."

// Parse reads [USER@]ADDRESS. Anything else is a fault.Usage: ssh and the user's own configuration would interpret it.
func Parse(text string) (Destination, error) {
	user, host, named := strings.Cut(text, "@")
	if !named {
		host = text
	}
	if named && !userForm.MatchString(user) || !isHost(host) {
		return Destination{}, fault.New(fault.Usage, fmt.Sprintf("%q is not a destination of ssh", text),
			hintDestination)
	}
	return Destination{text}, nil
}

// String returns the destination as the user gave it.
func (d Destination) String() string { return d.text }

func isHost(text string) bool {
	if !strings.Contains(text, ":") {
		return hostForm.MatchString(text)
	}
	address, err := netip.ParseAddr(text)
	return err == nil && zoneForm.MatchString(address.Zone())
}
