package main

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"time"
)

// manifestInterval is how soon manifests that could not be applied are tried again: their definitions may come first.
const manifestInterval = 5 * time.Second

// applyManifests applies the files in RKE2's folder of manifests, each until it went well once.
func applyManifests(ctx context.Context, p paths) {
	files, err := filepath.Glob(filepath.Join(p.manifests(), "*.yaml"))
	if err != nil {
		log.Print("cannot list the manifests: ", err)
		return
	}
	ticker := time.NewTicker(manifestInterval)
	defer ticker.Stop()
	for len(files) > 0 {
		var failed []string
		for _, file := range files {
			if err := applyManifest(ctx, p, file); err != nil && ctx.Err() == nil {
				log.Print("will try again: ", err)
				failed = append(failed, file)
			}
		}
		files = failed
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func applyManifest(ctx context.Context, p paths, file string) error {
	if err := call(ctx, "kubectl", "--kubeconfig", p.kubeconfig(), "apply", "-f", file); err != nil {
		return fmt.Errorf("apply a manifest: %w", err)
	}
	return nil
}
