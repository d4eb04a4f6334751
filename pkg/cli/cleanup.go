package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

type cleanupOptions struct {
	environmentOptions
	output  outputOptions
	yes     bool
	streams Streams
}

func newCleanup(streams Streams) *cobra.Command {
	o := &cleanupOptions{streams: streams}
	c := &cobra.Command{
		Use:   "cleanup ENVIRONMENT",
		Short: "Show what an environment left behind, and delete it with --yes",
		Long: `cleanup finds the containers, volumes, networks, images and files of an environment by proof of ownership (labels and
markers that only cluster-init sets) and shows them. With --yes it deletes them. It can be run any number of times.`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	o.environmentOptions.flags(c.Flags())
	o.output.flags(c.Flags())
	c.Flags().BoolVar(&o.yes, "yes", false, "delete what is shown")
	return c
}

func (o *cleanupOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	env, err := o.loadNames(ctx, name)
	if err != nil {
		return err
	}
	state, err := stateFolder(env.ClusterName())
	if err != nil {
		return err
	}
	engine := &docker.Client{}
	plan, err := cleanup.Discover(ctx, engine, cleanup.Target{Cluster: env.ClusterName(), Files: []string{state}})
	if err != nil {
		return err
	}
	if provider := env.InfraProvider(); provider != "capd" {
		plan.LeftAlone = append(plan.LeftAlone, cleanup.Item{Kind: "cloud", Name: provider + " of " + env.ClusterName(),
			Proof: "its machines are no containers: only the cluster that holds their definition can delete them, so delete the Cluster there first"})
	}
	if err := o.show(plan); err != nil {
		return err
	}
	switch {
	case len(plan.Delete) == 0:
		return nil
	case !o.yes:
		return fault.New(fault.ConfirmationRequired, fmt.Sprintf("nothing was deleted: %d things would be", len(plan.Delete)), "Run it again with --yes to delete what is shown.")
	}
	return narrate(ctx, sink, "cleanup", name, func(ctx context.Context) (outcome, error) {
		return outcome{}, cleanup.Delete(ctx, engine, plan, func(item cleanup.Item, err error) {
			message := fmt.Sprintf("deleted %s %s", item.Kind, item.Name)
			if err != nil {
				message = fmt.Sprintf("could not delete %s %s: %v", item.Kind, item.Name, err)
			}
			sink.Emit(event.Event{Time: time.Now(), Type: event.Progress, Message: message})
		})
	}, nil)
}

// show prints the plan: it is what the user asked for, so it goes to Out.
func (o *cleanupOptions) show(p cleanup.Plan) error {
	if o.output.format == "json" {
		return json.NewEncoder(o.streams.Out).Encode(p)
	}
	if len(p.Delete) == 0 {
		fmt.Fprintln(o.streams.Out, "nothing found")
	}
	for _, i := range p.Delete {
		fmt.Fprintf(o.streams.Out, "delete  %-15s %-45s %s\n", i.Kind, i.Name, i.Proof)
	}
	for _, i := range p.LeftAlone {
		fmt.Fprintf(o.streams.Out, "leave   %-15s %-45s %s\n", i.Kind, i.Name, i.Proof)
	}
	return nil
}
