package main

import (
	"context"
	"errors"
	"log"
	"strings"
)

// initialize makes the first server.
func initialize(ctx context.Context, p paths, cfg config, own machine) error {
	if err := errors.Join(ensureAuthorities(p), placeAuthorities(p)); err != nil {
		return err
	}
	if cni := strings.Join(cfg.cni, ","); cni != "none" {
		log.Print("the stand-in brings no pod network; nodes become ready when one is installed. The configuration's "+
			"cni: ", cni)
	}
	member, err := memberName(p, own.name)
	if err != nil {
		return err
	}
	if err := writePatches(p, cfg, member, initialCluster(member, own.address, nil)); err != nil {
		return err
	}
	token, err := newBootstrapToken()
	if err != nil {
		return err
	}
	// CAPRKE2 writes the address of the load balancer as the last name of the servers.
	endpoint := own.address
	if len(cfg.tlsSan) > 0 {
		endpoint = cfg.tlsSan[len(cfg.tlsSan)-1]
	}
	documents := initConfiguration(p, cfg, own, hostPort(endpoint, apiServerPort), token.String())
	return runKubeadm(ctx, p, "init", []string{"--skip-token-print"}, documents...)
}

// joinServer makes a further server.
func joinServer(ctx context.Context, p paths, cfg config, own machine) error {
	met, admitted, err := askForAdmission(ctx, p, cfg)
	if err != nil {
		return err
	}
	more, err := met.server(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(more.Files.write(p), placeAuthorities(p)); err != nil {
		return err
	}
	member, err := memberName(p, own.name)
	if err != nil {
		return err
	}
	if err := writePatches(p, cfg, member, initialCluster(member, own.address, more.Members)); err != nil {
		return err
	}
	return runKubeadm(ctx, p, "join", nil, joinConfiguration(p, cfg, own, true, admitted.Token))
}

// askForAdmission asks the configured server, and writes where kubeadm finds the API server.
func askForAdmission(ctx context.Context, p paths, cfg config) (cluster, admission, error) {
	if cfg.server == "" || cfg.token == "" {
		return cluster{}, admission{}, errors.New("to join a cluster, the configuration must have server and token")
	}
	token, err := parseToken(cfg.token)
	if err != nil {
		return cluster{}, admission{}, err
	}
	met, err := meet(ctx, cfg.server, token)
	if err != nil {
		return cluster{}, admission{}, err
	}
	admitted, err := met.node(ctx)
	if err != nil {
		return cluster{}, admission{}, err
	}
	return met, admitted, writeDiscovery(p, admitted)
}
