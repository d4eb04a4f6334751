package openstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/process"
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
	if os.Geteuid() != 0 {
		return errors.New("starting OpenStack needs root: packages, and an address on the loopback interface")
	}
	if err := unmark(l.ready()); err != nil {
		return err
	}
	installation, err := l.install(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(l.copyHypervisor(), l.addAddress(ctx)); err != nil {
		return err
	}
	if err := l.bringUp(ctx, installation); err != nil {
		return err
	}
	return mark(l.ready())
}

// Install brings Debian's packages, the passwords and the configuration files, and starts nothing.
func (l *Lab) Install(ctx context.Context) error {
	unlock, err := host.Lock(lockName)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = l.install(ctx)
	return err
}

func (l *Lab) install(ctx context.Context) (configuration.Installation, error) {
	installation := l.installation()
	var err error
	if installation.Packages, err = l.packages(ctx); err != nil {
		return installation, err
	}
	if installation.Secrets, err = configuration.OpenSecrets(l.secrets()); err != nil {
		return installation, err
	}
	for _, name := range []string{"home", "lock"} {
		if err := os.MkdirAll(installation.Variable(name), 0o700); err != nil {
			return installation, fmt.Errorf("create the lab's folders: %w", err)
		}
	}
	if err := installation.WriteAll(); err != nil {
		return installation, err
	}
	return installation, l.changeClouds(func(entries map[string]any) {
		entries["admin"] = resource.Entry(installation, resource.Admin(installation))
		entries["demo"] = resource.Entry(installation, resource.Demo(installation))
	})
}

// bringUp starts all services, each as soon as those are ready that it needs, and makes what projects find.
func (l *Lab) bringUp(ctx context.Context, installation configuration.Installation) error {
	since := time.Now()
	services := l.services(installation)
	ready := map[string]chan struct{}{}
	for _, one := range services {
		ready[one.Name] = make(chan struct{})
		for _, daemon := range one.Daemons { // told now, not after minutes of preparation
			if err := l.daemons().Clear(ctx, daemon); err != nil {
				return err
			}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range services {
		group.Go(func() error {
			if err := l.bring(ctx, installation, one, ready); err != nil {
				return fmt.Errorf("%s: %w", one.Name, err)
			}
			close(ready[one.Name])
			return nil
		})
	}
	group.Go(func() error { return l.offer(ctx, installation, since, services, ready) })
	return group.Wait()
}

// bring prepares a service, starts its daemons and waits until it answers.
func (l *Lab) bring(ctx context.Context, installation configuration.Installation, one service.Service,
	ready map[string]chan struct{}) error {
	if err := l.once(one.Name+".prepared",
		func() error { return l.prepare(ctx, installation, one, ready) }); err != nil {
		return err
	}
	if err := await(ctx, ready, one.Needs...); err != nil {
		return err
	}
	return l.say.Step("start "+one.Name, func() error {
		for _, daemon := range one.Daemons {
			if err := l.daemons().Start(ctx, daemon); err != nil {
				return err
			}
		}
		if err := l.daemons().Ready(ctx, one.Name, one.Daemons, readyTimeout, one.Check); err != nil {
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
func (l *Lab) prepare(ctx context.Context, installation configuration.Installation, one service.Service,
	ready map[string]chan struct{}) error {
	// the killed attempt may still go on
	if _, err := l.daemons().Stop(ctx, service.PrepareName(one.Name)); err != nil {
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
		if err := service.EmptyDatabases(ctx, installation, one.Databases); err != nil {
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
func (l *Lab) runBounded(ctx context.Context, program process.Daemon) error {
	bounded, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	err := l.daemons().Run(bounded, program)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("not within %s: %w", prepareTimeout, err)
	}
	return err
}

// offer makes what projects find, once all services are ready and their workers take messages.
func (l *Lab) offer(ctx context.Context, installation configuration.Installation, since time.Time,
	services []service.Service, ready map[string]chan struct{}) error {
	for _, one := range services {
		if err := await(ctx, ready, one.Name); err != nil {
			return err
		}
	}
	if err := resource.Offer(ctx, installation, l.KeyFile()); err != nil {
		return err
	}
	return l.say.Step("wait for nova's and cinder's workers", func() error {
		return process.Wait(ctx, "the workers of nova and cinder", workingTimeout, func(ctx context.Context) error {
			return resource.Working(ctx, installation, since)
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
