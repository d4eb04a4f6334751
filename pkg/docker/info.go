package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Info describes the engine behind the CLI.
type Info struct {
	ServerVersion  string
	OSType         string // "linux"
	Architecture   string // as Go names it: amd64, arm64
	CgroupVersion  string // "1" or "2"
	CPUs           int
	MemoryBytes    int64
	RootDir        string // where the engine keeps its data, on its own host
	Rootless       bool
	Name           string // of its host
	DefaultRuntime string
	Time           time.Time // by its host's clock, which dates its containers; zero if unknown
	// how the CLI reaches it: unix:///..., tcp://HOST:PORT, ssh://...; empty: the default socket
	Endpoint string
}

// answerTime bounds the request: an engine answers in well under a second.
const answerTime = 20 * time.Second

// Info returns the engine's description of itself. A fault DockerUnreachable reports that no engine answers.
func (c *Client) Info(ctx context.Context) (Info, error) { return c.info(ctx, answerTime) }

func (c *Client) info(ctx context.Context, bound time.Duration) (Info, error) {
	if c.NotNeeded {
		return Info{}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound,
		fault.New(fault.DockerUnreachable, fmt.Sprintf("the engine does not answer within %s", bound), hintUnreachable))
	defer cancel()
	var out bytes.Buffer
	// Without an engine the CLI prints an object with ServerErrors, with exit code 0 or 1 depending on its version:
	// both are checked.
	err := c.run(ctx, call{args: []string{"info", "--format", "{{json .}}"}, stdout: &out})
	if err != nil {
		return Info{}, err
	}
	var raw struct {
		Name, ServerVersion, OSType, Architecture, CgroupVersion, DockerRootDir, DefaultRuntime, SystemTime string

		NCPU                          int
		MemTotal                      int64
		SecurityOptions, ServerErrors []string
		ClientInfo                    struct{ Context string }
		// Plugins.Storage is of nerdctl only, Host of podman only.
		Plugins struct{ Storage []string }
		Host    struct{ BuildahVersion string }
	}
	if err := json.Unmarshal(out.Bytes(), &raw); err != nil {
		return Info{}, fault.Wrap(fmt.Errorf("docker info: %w", err), fault.DockerFailed, "")
	}
	switch {
	case raw.Host.BuildahVersion != "":
		return Info{}, notDocker("podman")
	case len(raw.Plugins.Storage) > 0:
		return Info{}, notDocker("nerdctl")
	}
	if len(raw.ServerErrors) > 0 || raw.ServerVersion == "" {
		msg := "docker info: no server answered"
		if len(raw.ServerErrors) > 0 {
			msg = "docker info: " + strings.Join(raw.ServerErrors, "; ")
		}
		return Info{}, fault.New(fault.DockerUnreachable, msg, hintUnreachable)
	}
	info := Info{
		Name: raw.Name, ServerVersion: raw.ServerVersion, OSType: raw.OSType, Architecture: goArch(raw.Architecture),
		CgroupVersion: raw.CgroupVersion, CPUs: raw.NCPU, MemoryBytes: raw.MemTotal,
		RootDir: raw.DockerRootDir, DefaultRuntime: raw.DefaultRuntime,
	}
	if now, err := time.Parse(time.RFC3339Nano, raw.SystemTime); err == nil {
		info.Time = now
	}
	for _, opt := range raw.SecurityOptions {
		info.Rootless = info.Rootless || strings.Contains(opt, "name=rootless")
	}
	info.Endpoint, err = c.endpoint(ctx, raw.ClientInfo.Context)
	return info, err
}

// notDocker refuses another program with the name docker: neither kind nor Cluster API's provider for Docker works with
// it.
func notDocker(program string) error {
	return fault.New(fault.DockerUnreachable, "the program called docker is "+program+
		", not the CLI of a Docker engine",
		"Install Docker's own CLI and engine, and put that CLI first in PATH.")
}

// goArch turns the kernel's name of an architecture into Go's.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	default:
		return machine
	}
}
