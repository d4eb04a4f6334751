package provider

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// AddressMaker is a provider in whose system cluster-init makes or reserves the address of the API server, before the
// machines. Then the address outlives each of them.
type AddressMaker interface {
	// FindAddress finds the address that was made or reserved for the cluster of env, and changes nothing. It refuses
	// an address that the cluster cannot use.
	FindAddress(ctx context.Context, env *environment.Environment) (Address, error)
	// MakeAddress finds the address, or makes or reserves it. It can be run again at any time.
	MakeAddress(ctx context.Context, env *environment.Environment) (Address, error)
	// MoveAddress gives the address to one of the control-plane machines joined, if none has it, or another machine of
	// the cluster. joined are those that have a Node and stay. Nil means not known: then any that runs gets an address
	// that none has. It returns the machine. Empty means that the address stays where it is, or that the machines move
	// it themselves.
	MoveAddress(ctx context.Context, env *environment.Environment, joined []string) (machine string, err error)
}

// AddressDeleter is a provider that deletes the address which it made as an AddressMaker.
type AddressDeleter interface {
	// CheckDeleteAddress returns why DeleteAddress would fail now, apart from machines that have the address. It
	// changes nothing. It returns nil for a cluster that was given no address.
	CheckDeleteAddress(ctx context.Context) error
	// DeleteAddress deletes what MakeAddress made for the cluster, once no machine has it. It returns the addresses.
	DeleteAddress(ctx context.Context) ([]string, error)
}

// Address is the address of a cluster's API server.
type Address struct {
	// Address is empty if none was made or reserved yet.
	Address string
	// Marked reports whether it carries all marks of its owner. Without, MakeAddress has not finished.
	Marked bool
	// Foreign reports that the cluster has an address that its own controllers made.
	Foreign bool
	// Warnings are for people.
	Warnings []string
}

// WithAddress returns the environment with the address that was made or reserved for its API server, and makes none. It
// returns env if there is no address yet, or if cluster-init makes none for this cluster. It reports an address that
// the cluster can lose.
func WithAddress(ctx context.Context, p Provider, env *environment.Environment, report Reporter) (
	*environment.Environment, error) {
	found, err := findAddress(ctx, p, env, report)
	if err != nil {
		return nil, fmt.Errorf("find the address of the API server: %w", err)
	}
	if warning := found.AddressWarning(); warning != "" {
		report.Warn("%s", warning)
	}
	return found, nil
}

func findAddress(ctx context.Context, p Provider, env *environment.Environment, report Reporter) (
	*environment.Environment, error) {
	maker, can := p.(AddressMaker)
	if !can || !env.ManagesAddress() {
		return env, nil
	}
	found, err := maker.FindAddress(ctx, env)
	if err != nil {
		return nil, err
	}
	found.warn(report)
	switch {
	case found.Foreign:
		return env.LeaveAddress(), nil
	case found.Address == "" || !found.Marked || found.Address == env.ManagedAddress():
		return env, nil
	}
	return env.WithManagedAddress(found.Address)
}

// MakeAddress returns the environment with the address of its API server, which it makes or reserves if need be.
func MakeAddress(ctx context.Context, p Provider, env *environment.Environment, report Reporter) (
	*environment.Environment, error) {
	maker, can := p.(AddressMaker)
	if !can || !env.ManagesAddress() {
		return env, nil
	}
	made, err := maker.MakeAddress(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("make the address of the API server: %w", err)
	}
	made.warn(report)
	switch {
	case made.Foreign:
		return env.LeaveAddress(), nil
	case made.Address == env.ManagedAddress():
		return env, nil
	}
	report.Progress("the API server has the address %s, which outlives its machines", made.Address)
	return env.WithManagedAddress(made.Address)
}

// MoveAddress gives the address of the API server to one of the control-plane machines joined, if none of them has it,
// and returns that machine. See AddressMaker.
func MoveAddress(ctx context.Context, p Provider, env *environment.Environment, joined []string) (machine string,
	err error) {
	maker, can := p.(AddressMaker)
	if !can || !env.ManagesAddress() || env.ManagedAddress() == "" {
		return "", nil
	}
	return maker.MoveAddress(ctx, env, joined)
}

func (a Address) warn(report Reporter) {
	for _, warning := range a.Warnings {
		report.Warn("%s", warning)
	}
}
