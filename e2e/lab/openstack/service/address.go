package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// addressName is the name of the service that has the address of all APIs.
const addressName = "address"

// holdAddress puts the address $0 on the loopback interface until it is asked to end.
const holdAddress = `
trap 'ip address del "$0/32" dev lo; exit' TERM
ip address show dev lo | grep -qF " $0/32 " || ip address add "$0/32" dev lo || exit
while :; do sleep 86400 & wait $!; done`

func address(installation configuration.Installation) Service {
	return Service{
		Name: addressName,
		Daemons: []container.Daemon{{Name: addressName, OnHost: true, Env: environment(installation),
			Args: []string{"/bin/sh", "-c", holdAddress, installation.Address}}},
		Answers: func(context.Context) error {
			addresses, err := net.InterfaceAddrs()
			if err != nil {
				return fmt.Errorf("list this machine's addresses: %w", err)
			}
			for _, one := range addresses {
				if strings.HasPrefix(one.String(), installation.Address+"/") {
					return nil
				}
			}
			return errors.New("this machine does not have the address " + installation.Address)
		},
	}
}
