package readiness

import (
	"fmt"
	"slices"
	"strings"
)

// plugins are those that CoreDNS is built with (plugin.cfg of v1.14). It does not start with an unknown name.
var plugins = []string{"root", "metadata", "geoip", "cancel", "tls", "quic", "grpc_server", "https", "https3",
	"timeouts", "multisocket", "reload", "nsid", "bufsize", "bind", "debug", "trace",
	"ready", "health", "pprof", "prometheus", "errors", "log", "dnstap", "local", "dns64", "acl", "any", "chaos",
	"loadbalance", "tsig", "cache", "rewrite", "header", "dnssec",
	"autopath", "minimal", "template", "transfer", "hosts", "route53", "azure", "clouddns", "k8s_external",
	"kubernetes", "file", "auto", "secondary", "etcd", "loop",
	"forward", "grpc", "erratic", "whoami", "on", "sign", "view", "nomad", "import"}

// corefile returns why CoreDNS would not start with a Corefile or not serve the cluster, as far as the syntax shows.
func corefile(content string) string {
	if strings.TrimSpace(content) == "" {
		return "it has no Corefile"
	}
	depth, serves := 0, false
	snippet := false
	for i, line := range strings.Split(content, "\n") {
		if before, _, has := strings.Cut(line, "#"); has {
			line = before
		}
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		switch {
		case depth == 0 && fields[0] != "}":
			snippet = strings.HasPrefix(fields[0], "(")
		case depth == 1 && fields[0] != "}" && !snippet:
			name := strings.TrimSuffix(fields[0], "{")
			if !slices.Contains(plugins, name) && name != "" {
				return fmt.Sprintf("line %d of its Corefile names the plugin %q, which CoreDNS does not have", i+1,
					name)
			}
			serves = serves || name == "kubernetes"
		}
		for _, field := range fields {
			depth += bracket(field)
		}
		if depth < 0 {
			return fmt.Sprintf("line %d of its Corefile closes a block that was not opened", i+1)
		}
	}
	switch {
	case depth != 0:
		return "its Corefile does not close a block that it opens"
	case !serves && !strings.Contains(content, "import"):
		return "its Corefile has no plugin kubernetes, so no name of the cluster is resolved"
	}
	return ""
}

// bracket returns how much a word changes the depth. Placeholders such as {$NAME} have both brackets.
func bracket(field string) int {
	if strings.HasPrefix(field, "{$") || strings.HasPrefix(field, "{%") {
		return 0
	}
	return strings.Count(field, "{") - strings.Count(field, "}")
}
