package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
)

// runServer is `rke2 server`: it makes this node the first server of a cluster, or a further one when the
// configuration names a server, then serves the registration port until it is stopped. The node's pods live on.
func runServer(ctx context.Context, p paths) error {
	cfg, own, err := prepare(p)
	if err != nil {
		return err
	}
	if err := becomePart(ctx, p, func(ctx context.Context) error {
		if cfg.server == "" {
			return initialize(ctx, p, cfg, own)
		}
		return joinServer(ctx, p, cfg, own)
	}); err != nil {
		return err
	}
	return serve(ctx, p, cfg, own)
}

// prepare reads the configuration and does what every node needs first.
func prepare(p paths) (config, machine, error) {
	log.Print(version())
	cfg, err := readConfig(p.config())
	if err != nil {
		return config{}, machine{}, err
	}
	if len(cfg.ignored) > 0 {
		log.Print("these keys of the configuration change nothing here: ", strings.Join(cfg.ignored, ", "))
	}
	if err := writeRegistries(p, cfg.onlyMirrors); err != nil {
		return config{}, machine{}, err
	}
	own, err := describeMachine(cfg)
	return cfg, own, err
}

// serve is the rest of a server's life.
func serve(ctx context.Context, p paths, cfg config, own machine) error {
	api, err := administrator(p)
	if err != nil {
		return err
	}
	if err := until(ctx, apiBound, "the API server of this node", api.ready); err != nil {
		return err
	}
	certificate, key, pair, err := own.servingCertificate(p, cfg)
	if err != nil {
		return err
	}
	member, err := memberName(p, own.name)
	if err != nil {
		return err
	}
	if err := until(ctx, apiBound, "the node of this server", func(ctx context.Context) error {
		return api.announce(ctx, own, member, certificate, key)
	}); err != nil {
		return err
	}
	handler, err := registrationHandler(p, cfg, api)
	if err != nil {
		return err
	}
	local, err := localEtcd(p)
	if err != nil {
		return err
	}
	return serveAll(ctx, p, handler, pair, func(ctx context.Context) { watchRemovals(ctx, own.name, api, local) })
}

// registrationHandler makes the handler of the registration port.
func registrationHandler(p paths, cfg config, api kubeAPI) (http.Handler, error) {
	token, err := serverToken(p, cfg)
	if err != nil {
		return nil, err
	}
	signer, err := readAuthority(p, serverCA)
	if err != nil {
		return nil, err
	}
	return registrar{
		token: token, authority: signer.pem,
		admit:  func(ctx context.Context) (admission, error) { return api.admit(ctx, p) },
		server: func(ctx context.Context) (serverAdmission, error) { return admitServer(ctx, p) },
	}.handler(), nil
}

// serveAll serves the registration port and looks after etcd and the manifests, until the context ends.
func serveAll(ctx context.Context, p paths, handler http.Handler, pair tls.Certificate,
	removals func(context.Context)) error {
	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	background.Go(func() { removals(ctx) })
	background.Go(func() { applyManifests(ctx, p) })
	err := serveRegistration(ctx, handler, pair, func() error {
		log.Print("this server is up")
		return notify("READY=1")
	})
	if err != nil {
		return fmt.Errorf("serve as a server: %w", err)
	}
	return nil
}
