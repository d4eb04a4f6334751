package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/render"
	"github.com/cluster-init/cluster-init/pkg/runs"
)

func newRuns(streams Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "runs",
		Short: "List, show and replay earlier runs on this machine",
		Long: fmt.Sprintf(
			`runs shows earlier runs of up, down, pivot, backup, restore and cleanup on this machine. The state
folder keeps the last %d runs of each command, without secrets. A run is kept once it has passed its
checks.

ID is an ID that runs list prints, the beginning of one, or last. show and replay also take the path
of a file that runs export or --output json wrote.`, runs.Most),
		Example: `  cluster-init runs list
  cluster-init runs show last
  cluster-init runs export last --as html >run.html
  cluster-init runs replay last --verbose`,
		RunE: onlyCommands,
	}
	c.AddCommand(newRunsList(streams), newRunsShow(streams), newRunsReplay(streams), newRunsExport(streams))
	return c
}

func newRunsList(streams Streams) *cobra.Command {
	var output outputOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "List the kept runs, the newest first",
		Example: "  cluster-init runs list\n  cluster-init runs list -o json | jq -r '.runs[] | select(.result == " +
			"\"failed\") | .id'",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := output.known(); err != nil {
				return err
			}
			store, err := runStore()
			if err != nil {
				return err
			}
			list, err := store.List()
			if err != nil {
				return err
			}
			return output.show(streams, runs.NewList(list))
		},
	}
	output.formatFlag(c.Flags(), "plain: a table for people; json: one document for programs")
	return c
}

func newRunsShow(streams Streams) *cobra.Command {
	var output outputOptions
	c := &cobra.Command{
		Use:     "show ID",
		Short:   "Show how a run went: phases, warnings, objects that were not ready, error",
		Example: "  cluster-init runs show last",
		Args:    exactlyOne("ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.known(); err != nil {
				return err
			}
			r, err := find(args[0])
			if err != nil {
				return err
			}
			return output.show(streams, runs.NewShown(*r))
		},
	}
	output.formatFlag(c.Flags(), "plain: for people; json: one document for programs, without the events")
	return c
}

func newRunsReplay(streams Streams) *cobra.Command {
	var output outputOptions
	c := &cobra.Command{
		Use:     "replay ID",
		Short:   "Print the output of a run again, in any format",
		Example: "  cluster-init runs replay last --verbose\n  cluster-init runs replay ./run.jsonl",
		Args:    exactlyOne("ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			view, err := output.view(streams)
			if err != nil {
				return err
			}
			r, err := find(args[0])
			if err != nil {
				return err
			}
			for _, e := range r.Events {
				view.Emit(e)
			}
			return nil
		},
	}
	output.viewFlags(c.Flags())
	return c
}

func newRunsExport(streams Streams) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write a run to stdout, as events or as a report",
		Example: "  cluster-init runs export last >run.jsonl\n  cluster-init runs export last --as junit >junit.xml\n " +
			" cluster-init runs export last --as html >run.html",
		Args: exactlyOne("ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			forms := map[string]func(*runs.Recording) ([]byte, error){"events": exportEvents,
				"junit": func(r *runs.Recording) ([]byte, error) { return render.JUnit(r.Events) },
				"html":  func(r *runs.Recording) ([]byte, error) { return render.Report(r.Events) }}
			form := forms[as]
			if form == nil {
				return fault.New(fault.Usage, fmt.Sprintf("--as %q is not known", as), "Use events, junit or html.")
			}
			r, err := find(args[0]) // refuse to export an unreadable run
			if err != nil {
				return err
			}
			content, err := form(r)
			if err != nil {
				return err
			}
			if _, err = streams.Out.Write(content); err != nil {
				return fmt.Errorf("write the run: %w", err)
			}
			return nil
		},
	}
	choose(c.Flags(), &as, "as", "", "events: one per line, as --output json prints them; junit: a JUnit report; "+
		"html: a page with timeline, critical path and the history of each object", "events", "junit", "html")
	return c
}

func exportEvents(r *runs.Recording) ([]byte, error) { return runs.Content(r.Path) }

func find(what string) (*runs.Recording, error) {
	store, err := runStore()
	if err != nil {
		return nil, err
	}
	return store.Find(what)
}
