package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"
)

// The annotations and labels by which CAPRKE2 and RKE2 talk about etcd members (CAPRKE2:
// pkg/rke2/workload_cluster_etcd.go).
const (
	removeAnnotation  = "etcd.rke2.cattle.io/remove"
	removedAnnotation = "etcd.rke2.cattle.io/removed-node-name"
	memberAnnotation  = "etcd.rke2.cattle.io/node-name"
	addressAnnotation = "etcd.rke2.cattle.io/node-address"
	etcdNodes         = "node-role.kubernetes.io/etcd=true"
)

// removalInterval is how often a server looks for members that are to be removed.
const removalInterval = 2 * time.Second

// nodeAPI and memberAPI are what the removal needs of an API server and of etcd.
type nodeAPI interface {
	nodes(ctx context.Context, selector string) ([]node, error)
	patchNode(ctx context.Context, name string, labels, annotations map[string]any) error
}

type memberAPI interface {
	members(ctx context.Context) ([]member, error)
	remove(ctx context.Context, id string) error
}

// watchRemovals removes marked members until the context ends. It says what fails, each reason once.
func watchRemovals(ctx context.Context, own string, nodes nodeAPI, members memberAPI) {
	ticker := time.NewTicker(removalInterval)
	defer ticker.Stop()
	said := ""
	for {
		reason := ""
		if err := removeMarked(ctx, own, nodes, members); err != nil && ctx.Err() == nil {
			reason = err.Error()
		}
		if reason != "" && reason != said {
			log.Print("cannot look after the etcd members: ", reason)
		}
		said = reason
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// removeMarked removes the etcd members of all nodes that are marked for it and says so on the node. A server does it
// for the others, never for itself: it would lose the API server that it must answer through, and the last member
// must stay. Servers that do it at once do not disturb each other.
func removeMarked(ctx context.Context, own string, nodes nodeAPI, members memberAPI) error {
	list, err := nodes.nodes(ctx, etcdNodes)
	if err != nil {
		return fmt.Errorf("list the servers: %w", err)
	}
	for _, each := range list {
		name, annotations := each.Metadata.Name, each.Metadata.Annotations
		if name == own || annotations[removeAnnotation] != "true" || annotations[removedAnnotation] != "" {
			continue
		}
		removed, err := removeMember(ctx, name, annotations[memberAnnotation], members)
		if err != nil {
			return fmt.Errorf("remove the etcd member of node %s: %w", name, err)
		}
		err = nodes.patchNode(ctx, name, nil, map[string]any{removedAnnotation: removed, memberAnnotation: nil,
			addressAnnotation: nil})
		if err != nil {
			return fmt.Errorf("say on node %s that its etcd member is removed: %w", name, err)
		}
		log.Printf("removed the etcd member %s of node %s", removed, name)
	}
	return nil
}

// removeMember removes the member of a node and returns its name. A member that is gone already counts.
func removeMember(ctx context.Context, nodeName, annotated string, members memberAPI) (string, error) {
	list, err := members.members(ctx)
	if err != nil {
		return "", err
	}
	for _, each := range list {
		if annotated != "" && each.Name == annotated || annotated == "" && belongsTo(each.Name, nodeName) {
			return each.Name, members.remove(ctx, each.ID)
		}
	}
	if annotated == "" {
		annotated = nodeName
	}
	return annotated, nil
}

// belongsTo reports whether a member has the name NODE-SUFFIX.
func belongsTo(memberName, nodeName string) bool {
	cut := strings.LastIndex(memberName, "-")
	return cut > 0 && memberName[:cut] == nodeName
}
