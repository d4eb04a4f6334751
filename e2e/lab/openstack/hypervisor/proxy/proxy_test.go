package proxy

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConfiguration(t *testing.T) {
	api := Listener{
		Port:    6443,
		Allowed: []netip.Prefix{netip.MustParsePrefix("10.6.0.0/24"), netip.MustParsePrefix("10.0.0.1/32")},
		Members: []netip.AddrPort{netip.MustParseAddrPort("10.6.0.7:6443"), netip.MustParseAddrPort("10.6.0.5:6443")},
		Monitor: Monitor{Every: 10 * time.Second, Rise: 5, Fall: 3},
	}
	open := Listener{Port: 80, Members: []netip.AddrPort{netip.MustParseAddrPort("10.6.0.5:30080")}}
	const want = `
listen port-80
  bind :80
  server 10.6.0.5:30080 10.6.0.5:30080

listen port-6443
  bind :6443
  tcp-request connection reject unless { src 10.0.0.1/32 10.6.0.0/24 }
  server 10.6.0.5:6443 10.6.0.5:6443 check inter 10000ms rise 5 fall 3
  server 10.6.0.7:6443 10.6.0.7:6443 check inter 10000ms rise 5 fall 3
`
	first := Configuration([]Listener{api, open})
	if got := strings.TrimPrefix(first, fixed); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	slices.Reverse(api.Members)
	slices.Reverse(api.Allowed)
	if again := Configuration([]Listener{open, api}); again != first {
		t.Errorf("in another order it is another one: %s", again)
	}
	if empty := Configuration(nil); empty != fixed {
		t.Errorf("of nothing: %s", empty)
	}
}
