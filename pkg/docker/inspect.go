package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// decodeSingle decodes the answer of an inspect command, a list with one object.
func decodeSingle[T any](answer string) (object T, err error) {
	var list []T
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		return object, fault.Wrap(fmt.Errorf("unexpected answer: %w", err), fault.DockerFailed, "")
	}
	if len(list) != 1 {
		return object, fault.Wrap(fmt.Errorf("unexpected answer of %d objects", len(list)), fault.DockerFailed, "")
	}
	return list[0], nil
}

// rawContainer is the part of `docker container inspect` that is read.
type rawContainer struct {
	ID      string `json:"Id"`
	Name    string
	Image   string
	Created time.Time
	State   struct {
		Running  bool
		Status   string
		ExitCode int
		Error    string
	}
	Config struct {
		Image  string
		Labels map[string]string
	}
	Mounts []struct {
		Type, Name, Source, Destination string
		RW                              bool
	}
	NetworkSettings struct {
		Networks map[string]struct {
			NetworkID, IPAddress, GlobalIPv6Address string
		}
		Ports map[string][]struct{ HostIP, HostPort string }
	}
}

func (r rawContainer) container() Container {
	c := Container{
		ID: r.ID, Name: strings.TrimPrefix(r.Name, "/"), Image: r.Config.Image, ImageID: r.Image, Created: r.Created,
		Running: r.State.Running, Status: r.State.Status, ExitCode: r.State.ExitCode, Error: r.State.Error,
		Labels: r.Config.Labels, Networks: map[string]Endpoint{}, Ports: map[string][]string{},
	}
	for _, m := range r.Mounts {
		source := m.Source
		if m.Type == "volume" {
			source = m.Name
		}
		c.Mounts = append(c.Mounts, Mount{Type: m.Type, Source: source, Target: m.Destination, ReadOnly: !m.RW})
	}
	for name, n := range r.NetworkSettings.Networks {
		c.Networks[name] = Endpoint{NetworkID: n.NetworkID, IPv4: n.IPAddress, IPv6: n.GlobalIPv6Address}
	}
	for port, bindings := range r.NetworkSettings.Ports {
		for _, b := range bindings {
			c.Ports[port] = append(c.Ports[port], net.JoinHostPort(b.HostIP, b.HostPort))
		}
	}
	return c
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
