package evidence

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// containers writes the list of all containers of the engine, and the state of the environment's containers. With logs,
// it also writes their logs, and the journals of running nodes.
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
	for _, label := range []string{ // bootstrap node, machines, registry
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
		isNode := c.inspect(ctx, f, name)
		if logs {
			c.log(ctx, f, name)
		}
		if logs && isNode {
			c.journal(ctx, f, name)
		}
	}
}

// inspect writes the state of a container. It reports whether the container is a running node.
func (c Collector) inspect(ctx context.Context, f *folder, name string) (isNode bool) {
	bounded(ctx, f, "docker inspect of "+name, func(ctx context.Context) error {
		inspected, err := c.Engine.InspectAll(ctx, name)
		if err != nil {
			return err
		}
		isNode = isRunningNode(inspected)
		dropVariableValues(inspected)
		f.objects(dockerName+"/"+pathElement(name)+".inspect.yaml",
			"output of docker inspect, without the values of variables", []map[string]any{inspected})
		return nil
	})
	return isNode
}

func (c Collector) log(ctx context.Context, f *folder, name string) {
	bounded(ctx, f, "the log of container "+name, func(ctx context.Context) error {
		log, err := c.Engine.Logs(ctx, name, logLines, logBytes)
		if err == nil {
			f.text(dockerName+"/"+pathElement(name)+".log", "end of the container's log", log)
		}
		return err
	})
}

func (c Collector) journal(ctx context.Context, f *folder, name string) {
	bounded(ctx, f, "the journal of machine "+name, func(ctx context.Context) error {
		journal, err := c.Engine.Output(ctx, name, []string{"journalctl", "--no-pager", "--quiet", "--lines",
			strconv.Itoa(journalLines)}, logBytes)
		if err == nil {
			f.text(dockerName+"/"+pathElement(name)+".journal.log",
				"end of the machine's journal: kubelet, containerd and others", journal)
		}
		return err
	})
}

// isRunningNode reports whether a container is a node of a cluster, and runs.
func isRunningNode(inspected map[string]any) bool {
	config, _ := inspected["Config"].(map[string]any)
	labels, _ := config["Labels"].(map[string]any)
	state, _ := inspected["State"].(map[string]any)
	role, _ := labels[kind.RoleLabel].(string)
	return state["Running"] == true && (role == "control-plane" || role == "worker")
}

// dropVariableValues leaves only the names of environment variables.
func dropVariableValues(inspected map[string]any) {
	config, _ := inspected["Config"].(map[string]any)
	variables, _ := config["Env"].([]any)
	for i, v := range variables {
		text, _ := v.(string)
		name, _, _ := strings.Cut(text, "=")
		variables[i] = name
	}
}
