package evidence

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// containers writes the state of the environment's containers and, with logs, their logs and the journals of machines.
func (c Collector) containers(ctx context.Context, f *folder, logs bool) {
	if c.Engine == nil {
		return
	}
	bounded(ctx, f, "the list of containers", func(ctx context.Context) error {
		table, err := c.Engine.Table(ctx)
		if err == nil {
			f.text(dockerName+"/containers.txt", "all containers of the Docker engine", table)
		}
		return err
	})
	var names []string
	for _, label := range []string{
		kind.ClusterLabel + "=" + owned.BootstrapCluster(c.Cluster), kind.ClusterLabel + "=" + c.Cluster,
		owned.ClusterLabel + "=" + c.Cluster,
	} {
		bounded(ctx, f, "containers with the label "+label, func(ctx context.Context) error {
			found, err := c.Engine.Containers(ctx, docker.Filter{Labels: []string{label}})
			names = append(names, found...)
			return err
		})
	}
	sort.Strings(names)
	for _, name := range slices.Compact(names) {
		c.container(ctx, f, name, logs)
	}
}

// container writes the state of a container and, with logs, its log and journal.
func (c Collector) container(ctx context.Context, f *folder, name string, logs bool) {
	machine := false
	bounded(ctx, f, "docker inspect of "+name, func(ctx context.Context) error {
		all, err := c.Engine.InspectAll(ctx, name)
		if err != nil {
			return err
		}
		machine = isMachine(all)
		withoutVariables(all)
		f.objects(dockerName+"/"+inName(name)+".inspect.yaml",
			"output of docker inspect, without the values of variables", []map[string]any{all})
		return nil
	})
	if !logs {
		return
	}
	bounded(ctx, f, "the log of container "+name, func(ctx context.Context) error {
		log, err := c.Engine.Logs(ctx, name, logLines, logBytes)
		if err == nil {
			f.text(dockerName+"/"+inName(name)+".log", "end of the container's log", log)
		}
		return err
	})
	if !machine {
		return
	}
	bounded(ctx, f, "the journal of machine "+name, func(ctx context.Context) error {
		journal, err := c.Engine.Output(ctx, name, []string{"journalctl", "--no-pager", "--quiet", "--lines", "2000"},
			logBytes)
		if err == nil {
			f.text(dockerName+"/"+inName(name)+".journal.log",
				"end of the machine's journal: kubelet, containerd and others", journal)
		}
		return err
	})
}

// isMachine reports whether a container is a running machine.
func isMachine(inspected map[string]any) bool {
	config, _ := inspected["Config"].(map[string]any)
	labels, _ := config["Labels"].(map[string]any)
	state, _ := inspected["State"].(map[string]any)
	role, _ := labels[kind.RoleLabel].(string)
	return state["Running"] == true && (role == "control-plane" || role == "worker")
}

// withoutVariables leaves only the names of environment variables.
func withoutVariables(inspected map[string]any) {
	config, _ := inspected["Config"].(map[string]any)
	variables, _ := config["Env"].([]any)
	for i, v := range variables {
		text, _ := v.(string)
		name, _, _ := strings.Cut(text, "=")
		variables[i] = name
	}
}
