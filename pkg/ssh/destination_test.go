package ssh

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestParse(t *testing.T) {
	for _, good := range []string{"root@192.0.2.7", "ubuntu@cp-0.example.org", "192.0.2.7", "edge_site", "a@2001:db8::7",
		"a@fe80::1%eth0", "::1", "_svc.x-y@h", "A@B"} {
		if d, err := Parse(good); err != nil || d.String() != good {
			t.Errorf("%q: %q, %v", good, d, err)
		}
	}
	for _, bad := range []string{"", "@", "root@", "@host", "-oProxyCommand=id", "--", "-", "root@-oProxyCommand=id",
		"-l@host", "a b@host", "root@ho st", "root@host ", " root@host", "root@host\n", "root@host\nid", "root@host;id",
		"root@$(id)", "root@`id`", "$(id)@host", "root@host|id", "root@host&", "root@h'o", `root@h"o`, `root@h\o`,
		"ssh://root@host", "root@host:22", "root@host/x", "a@b@host", "root@%h", "root@fe80::1%;id", "root@fe80::1%-x y",
		"root@[::1]", "root@hôte", "root@host\x00", "root@*", "root@host#", "root@" + strings.Repeat("a", 256),
		strings.Repeat("a", 65) + "@host", "root@=", "~@host", "root@host,other"} {
		d, err := Parse(bad)
		if fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" || d.String() != "" {
			t.Errorf("%q: %q, %v", bad, d, err)
		}
	}
}
