package node

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	sandboxImage = regexp.MustCompile(`sandbox_image = "[^"]*"`)
	oomScore     = regexp.MustCompile(`restrict_oom_score_adj = (true|false)`)
)

// criTable is the table of kind's config.toml (format 2) that the settings below belong to.
const criTable = `[plugins."io.containerd.grpc.v1.cri"]`

// registryTable makes containerd read mirrors from certs.d, where cluster-init writes them.
const registryTable = `
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "/etc/containerd/certs.d"
`

// runtimeTable has containerd read the counters of each container every 30 s and not, as from 2.2 on, every second:
// with the 40 containers of two clusters that took a fifth of two cores.
const runtimeTable = `
[plugins."io.containerd.cri.v1.runtime"]
  stats_collect_period = "30s"
`

// containerdConfig edits kind's configuration: the pause image that this node holds, no negative oom scores (a host
// without CAP_SYS_RESOURCE refuses them), registry mirrors, and fewer readings of counters. kind's file may change, so
// each edit must find its place.
func containerdConfig(config []byte, pause string) ([]byte, error) {
	text := string(config)
	if !sandboxImage.MatchString(text) || !oomScore.MatchString(text) || !strings.Contains(text, criTable) {
		return nil, errors.New("kind's containerd configuration has changed: no sandbox_image or " +
			"restrict_oom_score_adj in it")
	}
	if strings.Contains(text, "config_path") {
		return nil, errors.New("kind's containerd configuration has changed: it sets config_path itself")
	}
	text = sandboxImage.ReplaceAllString(text, fmt.Sprintf("sandbox_image = %q", pause))
	text = oomScore.ReplaceAllString(text, "restrict_oom_score_adj = true")
	return []byte(text + registryTable + runtimeTable), nil
}
