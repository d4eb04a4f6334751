// Package proxy writes what a load balancer of octavia is to haproxy.
package proxy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Listener is a port of a load balancer that takes connections, and what it passes them on to.
type Listener struct {
	Port    int
	Allowed []netip.Prefix // who may connect; none means everybody
	Members []netip.AddrPort
	Monitor Monitor
}

// Monitor is how a listener's members are watched. Its zero value means that they are not.
type Monitor struct {
	Every      time.Duration
	Rise, Fall int // answers that make a member used, and missing ones that make it unused
}

// fixed is the same for each load balancer: octavia's own timeouts, and a place to listen at in any case, without which
// haproxy does not run.
const fixed = `global
  maxconn 2000

defaults
  mode tcp
  balance roundrobin
  retries 3
  option redispatch
  timeout connect 5s
  timeout client 50s
  timeout server 50s

frontend idle
  bind 127.0.0.1:8404
`

// Configuration returns haproxy's configuration file. Listeners and members in another order give the same one.
func Configuration(listeners []Listener) string {
	var out strings.Builder
	out.WriteString(fixed)
	byPort := func(a, b Listener) int { return cmp.Compare(a.Port, b.Port) }
	for _, listener := range slices.SortedFunc(slices.Values(listeners), byPort) {
		fmt.Fprintf(&out, "\nlisten port-%d\n  bind :%d\n", listener.Port, listener.Port)
		if len(listener.Allowed) > 0 {
			out.WriteString("  tcp-request connection reject unless { src")
			for _, from := range slices.SortedFunc(slices.Values(listener.Allowed), netip.Prefix.Compare) {
				fmt.Fprintf(&out, " %s", from)
			}
			out.WriteString(" }\n")
		}
		for _, member := range slices.SortedFunc(slices.Values(listener.Members), netip.AddrPort.Compare) {
			fmt.Fprintf(&out, "  server %s %s%s\n", member, member, listener.Monitor.check())
		}
	}
	return out.String()
}

// check returns the end of a member's line.
func (m Monitor) check() string {
	if m.Every <= 0 {
		return ""
	}
	return fmt.Sprintf(" check inter %dms rise %d fall %d", m.Every.Milliseconds(), max(m.Rise, 1), max(m.Fall, 1))
}
