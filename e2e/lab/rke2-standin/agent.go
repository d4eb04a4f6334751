package main

import (
	"context"
	"log"
)

// runAgent is `rke2 agent`: it makes this node a worker of the configured server's cluster. kubelet and containerd then
// live on their own; the process stays, as RKE2's does.
func runAgent(ctx context.Context, p paths) error {
	cfg, own, err := prepare(p)
	if err != nil {
		return err
	}
	if err := becomePart(ctx, p, func(ctx context.Context) error {
		_, admitted, err := askForAdmission(ctx, p, cfg)
		if err != nil {
			return err
		}
		return runKubeadm(ctx, p, "join", nil, joinConfiguration(p, cfg, own, false, admitted.Token))
	}); err != nil {
		return err
	}
	log.Print("this agent is up")
	if err := notify("READY=1"); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
