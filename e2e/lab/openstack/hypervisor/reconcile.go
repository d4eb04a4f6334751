package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// errNoAddress says that neutron has no port of a server, or none in a network that is known.
var errNoAddress = errors.New("it has no address of version 4 yet")

// Reconcile looks once and does what there is to do. What fails for one machine does not keep it from the others.
func (b *Bridge) Reconcile(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	// The engine first: a container that this very process has not made yet belongs to a server that the cloud knows.
	world, err := b.engine.World(look)
	if b.report.failed(ctx, "the Docker engine", err) {
		return
	}
	state, err := b.cloud.State(look)
	if b.report.failed(ctx, "the cloud", err) {
		return
	}
	// First what goes by the world as it was seen: what is done below counts at the next look.
	world.Networks = b.removeNetworks(ctx, world)
	b.wire(ctx, state, world)
	for _, container := range world.Containers {
		b.removeIfGone(ctx, state, container)
	}
	for _, server := range b.wanted(ctx, state, world) {
		b.serve(ctx, state, world, server)
	}
	b.balance(ctx, state, world)
	for _, container := range world.Containers {
		if container.Running() {
			b.report.failed(ctx, "console of "+container.Name, b.console(ctx, container))
		}
	}
}

func (b *Bridge) console(ctx context.Context, container Container) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return b.engine.Console(ctx, container)
}

// removeIfGone removes a container whose server is gone.
func (b *Bridge) removeIfGone(ctx context.Context, state State, container Container) {
	gone, err := b.gone(ctx, state, container.Server)
	if err == nil && gone {
		err = b.remove(ctx, container)
	}
	b.report.failed(ctx, "container "+container.Name, err)
}

// gone reports whether a server is gone. That a list does not have it is not enough: nova leaves out what it cannot
// read.
func (b *Bridge) gone(ctx context.Context, state State, id string) (bool, error) {
	if server := state.server(id); server != nil {
		return server.Status == deleted || server.Status == softDeleted, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return b.cloud.Gone(ctx, id)
}

func (b *Bridge) remove(ctx context.Context, container Container) error {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	if err := b.engine.Remove(ctx, container); err != nil {
		return err
	}
	b.report.say("removed container %s: its server is gone", container.Name)
	return nil
}

// wanted returns the servers that are machines: those with a container, and those of the images.
func (b *Bridge) wanted(ctx context.Context, state State, world World) []Server {
	var found []Server
	for _, server := range state.Servers {
		if server.Status == deleted || server.Status == softDeleted {
			continue
		}
		if world.container(server.ID) == nil {
			name, err := b.imageOf(ctx, server)
			if b.report.failed(ctx, "image of "+server.Name+" "+server.ID, err) || !slices.Contains(b.images, name) {
				continue
			}
		}
		found = append(found, server)
	}
	return found
}

func (b *Bridge) imageOf(ctx context.Context, server Server) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return b.cloud.ImageOf(ctx, server)
}

// serve makes the container of a server what the server's status says.
func (b *Bridge) serve(ctx context.Context, state State, world World, server Server) {
	if b.pause.waiting(server.ID) {
		return
	}
	work, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	err := b.equal(work, state, world, server)
	b.pause.after(server.ID, err)
	b.report.failed(ctx, "server "+server.Name+" "+server.ID, err)
}

func (b *Bridge) equal(ctx context.Context, state State, world World, server Server) error {
	container := world.container(server.ID)
	if container != nil && container.Status == "created" { // it has never run: what made it was killed, or failed
		if err := b.engine.Remove(ctx, *container); err != nil {
			return err
		}
		container = nil
	}
	switch {
	case container == nil && server.Status == active:
		return b.make(ctx, state, server)
	case container == nil:
		return nil
	case server.Status == active && container.Status == "exited":
		b.report.say("starting container %s: its server is active", container.Name)
		return b.engine.Power(ctx, *container, true)
	case server.Status == shutOff && container.Running():
		b.report.say("stopping container %s: its server is shut off", container.Name)
		return b.engine.Power(ctx, *container, false)
	}
	return nil
}

func (b *Bridge) make(ctx context.Context, state State, server Server) error {
	image, err := b.imageOf(ctx, server)
	if err != nil {
		return err
	}
	machine := Machine{Server: server.ID, Name: server.Name, Image: image, Links: state.links(server.ID)}
	if len(machine.Links) == 0 {
		return errNoAddress
	}
	for _, link := range machine.Links {
		if err := b.engine.MakeNetwork(ctx, *state.network(link.Network)); err != nil {
			return err
		}
	}
	content, err := b.cloud.Drive(ctx, server.ID)
	if err != nil {
		return err
	}
	if err := b.engine.Make(ctx, machine, content); err != nil {
		return err
	}
	b.report.say("server %s boots at %s", server.Name, machine.Links[0].Address)
	return nil
}

// removeNetworks removes the docker networks in which no container has a place, and returns those that are left.
func (b *Bridge) removeNetworks(ctx context.Context, world World) (left []string) {
	for _, network := range world.Networks {
		if world.uses(network) || b.report.failed(ctx, "network "+network, b.removeNetwork(ctx, network)) {
			left = append(left, network)
		}
	}
	return left
}

func (b *Bridge) removeNetwork(ctx context.Context, network string) error {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	return b.engine.RemoveNetwork(ctx, network)
}

// wire connects what runs.
func (b *Bridge) wire(ctx context.Context, state State, world World) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	wires := Wires{Networks: world.Networks, Taken: state.taken(), Machines: map[int][]Floating{},
		Shared: state.shared()}
	for _, container := range world.all() {
		if container.Running() && container.PID != 0 {
			wires.Machines[container.PID] = state.floating(container)
		}
	}
	b.report.failed(ctx, "the connections", b.engine.Wire(ctx, wires))
}

// Clean removes all that a bridge has made for the cloud that the engine is of, without asking that cloud.
func Clean(ctx context.Context, engine engine, say func(format string, args ...any)) error {
	world, err := engine.World(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, container := range world.all() {
		say("removing container %s", container.Name)
		failed = append(failed, engine.Remove(ctx, container))
	}
	for _, network := range world.Networks {
		failed = append(failed, engine.RemoveNetwork(ctx, network))
	}
	failed = append(failed, engine.Wire(ctx, Wires{}))
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("remove the machines of the cloud: %w", err)
	}
	return nil
}
