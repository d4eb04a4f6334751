package openstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/debian"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/service"
)

const (
	// startTimeout bounds a whole start, the installation of packages included.
	startTimeout = 15 * time.Minute
	// prepareTimeout bounds one command that prepares a service, on a machine with other things to do.
	prepareTimeout = 4 * time.Minute
	// readyTimeout bounds the wait for one service's first answer.
	readyTimeout = 3 * time.Minute
	// workingTimeout bounds the wait until servers and volumes can be made.
	workingTimeout = 2 * time.Minute
)

// Start brings everything up that is not up. It does nothing when all is, and resumes an interrupted start.
func (l *Lab) Start(ctx context.Context) error {
	unlock, err := host.Lock(lockName)
	if err != nil {
		return err
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if exists(l.ready()) && l.checkAll(ctx) == nil {
		l.say.Say("OpenStack answers at %s", Address)
		return nil
	}
	if err := unmark(l.ready()); err != nil {
		return err
	}
	built, installation, err := l.install(ctx)
	if err != nil {
		return err
	}
	image, err := l.image(ctx, built)
	if err != nil {
		return err
	}
	run := starting{Lab: l, installation: installation, engine: container.Engine{Image: image,
		Mounts: []string{l.dir, installation.Packages}}}
	if err := l.copyHypervisor(); err != nil {
		return err
	}
	if err := run.bringUp(ctx); err != nil {
		return err
	}
	return mark(l.ready())
}

// starting is one start of the lab.
type starting struct {
	*Lab
	installation configuration.Installation
	engine       container.Engine
}

// Install brings Debian's packages, the passwords and the configuration files. It starts nothing, and needs no engine.
func (l *Lab) Install(ctx context.Context) error {
	unlock, err := host.Lock(lockName)
	if err != nil {
		return err
	}
	defer unlock()
	_, _, err = l.install(ctx)
	return err
}

func (l *Lab) install(ctx context.Context) (built debian.Built, installation configuration.Installation, err error) {
	installation = l.installation()
	if built, installation.Packages, err = l.packages(ctx); err != nil {
		return built, installation, err
	}
	if installation.Secrets, err = configuration.OpenSecrets(l.secrets()); err != nil {
		return built, installation, err
	}
	for _, name := range []string{"home", "lock"} {
		if err := os.MkdirAll(installation.Variable(name), 0o700); err != nil {
			return built, installation, fmt.Errorf("create the lab's folders: %w", err)
		}
	}
	if err := installation.WriteAll(); err != nil {
		return built, installation, err
	}
	return built, installation, l.changeClouds(func(entries map[string]any) {
		entries["admin"] = resource.Entry(installation, resource.Admin(installation))
		entries["demo"] = resource.Entry(installation, resource.Demo(installation))
	})
}

// bringUp starts all services, each as soon as those are ready that it needs, and makes what projects find.
func (l starting) bringUp(ctx context.Context) error {
	since := time.Now()
	services := l.services(l.installation)
	ready := map[string]chan struct{}{}
	for _, one := range services {
		ready[one.Name] = make(chan struct{})
		for _, daemon := range one.Daemons { // told now, not after minutes of preparation
			if err := l.engine.Clear(ctx, daemon); err != nil {
				return err
			}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range services {
		group.Go(func() error {
			if err := l.bring(ctx, one, ready); err != nil {
				return fmt.Errorf("%s: %w", one.Name, err)
			}
			close(ready[one.Name])
			return nil
		})
	}
	group.Go(func() error { return l.offer(ctx, since, services, ready) })
	return group.Wait()
}

// bring prepares a service, starts its daemons and waits until it answers.
func (l starting) bring(ctx context.Context, one service.Service, ready map[string]chan struct{}) error {
	if err := l.once(one.Name+".prepared", func() error { return l.prepare(ctx, one, ready) }); err != nil {
		return err
	}
	if err := await(ctx, ready, one.Needs...); err != nil {
		return err
	}
	return l.say.Step("start "+one.Name, func() error {
		for _, daemon := range one.Daemons {
			if err := l.engine.Start(ctx, daemon); err != nil {
				return err
			}
		}
		if err := container.Ready(ctx, one.Name, one.Daemons, readyTimeout, one.Check); err != nil {
			return err
		}
		if one.Register == nil {
			return nil
		}
		return l.once(one.Name+".registered", func() error { return one.Register(ctx) })
	})
}

// prepare does what a service needs before its daemons run for the first time. It starts with empty folders and
// databases: a killed attempt may have left half of a migration.
func (l starting) prepare(ctx context.Context, one service.Service, ready map[string]chan struct{}) error {
	// the killed attempt may still run
	if err := container.Stop(ctx, service.PrepareName(one.Name)); err != nil {
		return err
	}
	for _, folder := range one.Folders {
		if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700)); err != nil {
			return fmt.Errorf("empty a folder: %w", err)
		}
	}
	if len(one.Databases) > 0 {
		if err := await(ctx, ready, service.MariaDB); err != nil {
			return err
		}
		if err := service.EmptyDatabases(ctx, l.installation, one.Databases); err != nil {
			return err
		}
	}
	if len(one.Prepare) == 0 {
		return nil
	}
	return l.say.Step("prepare "+one.Name, func() error {
		for _, program := range one.Prepare {
			if err := l.runBounded(ctx, program); err != nil {
				return err
			}
		}
		return nil
	})
}

// runBounded runs one program for at most prepareTimeout.
func (l starting) runBounded(ctx context.Context, program container.Daemon) error {
	bounded, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	err := l.engine.Run(bounded, program)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("not within %s: %w", prepareTimeout, err)
	}
	return err
}

// offer makes what projects find, once all services are ready and their workers take messages.
func (l starting) offer(ctx context.Context, since time.Time, services []service.Service,
	ready map[string]chan struct{}) error {
	for _, one := range services {
		if err := await(ctx, ready, one.Name); err != nil {
			return err
		}
	}
	if err := resource.Offer(ctx, l.installation, l.KeyFile()); err != nil {
		return err
	}
	return l.say.Step("wait for nova's and cinder's workers", func() error {
		return container.Wait(ctx, "the workers of nova and cinder", workingTimeout, func(ctx context.Context) error {
			return resource.Working(ctx, l.installation, since)
		})
	})
}

// await returns when the services are ready.
func await(ctx context.Context, ready map[string]chan struct{}, names ...string) error {
	for _, name := range names {
		select {
		case <-ready[name]:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", name, ctx.Err())
		}
	}
	return nil
}

// once runs something unless its mark is there, and leaves the mark when it succeeds.
func (l *Lab) once(name string, run func() error) error {
	if exists(l.done(name)) {
		return nil
	}
	if err := run(); err != nil {
		return err
	}
	return mark(l.done(name))
}

// changeClouds changes the entries of the lab's clouds.yaml; only one process at a time does.
func (l *Lab) changeClouds(change func(map[string]any)) error {
	unlock, err := host.Lock(lockName + "-clouds")
	if err != nil {
		return err
	}
	defer unlock()
	return resource.ChangeClouds(filepath.Clean(l.Clouds()), change)
}
