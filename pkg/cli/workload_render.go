package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// workloadRenderOptions are the flags of `workload render`.
type workloadRenderOptions struct {
	workloadDefinition
	secrets bool
	format  string
	streams Streams
}

func newWorkloadRender(streams Streams) *cobra.Command {
	o := &workloadRenderOptions{streams: streams}
	c := &cobra.Command{
		Use:   "render ENVIRONMENT --in ENVIRONMENT",
		Short: "Print what workload apply would apply, for a Git repository",
		Long: `render prints the objects that workload apply would apply: the namespace, the sources, the values and
the HelmRelease. It reads the management cluster, and refuses what workload apply refuses. It changes
nothing. Flux does not delete these objects when you remove them from the repository; workload delete
does.

It leaves Secrets out. With --secrets it prints only them, in plain text: apply them with kubectl
first, or encrypt them before you commit them.`,
		Example: `  cluster-init workload render ./shop --in ./hub > clusters/shop.yaml
  cluster-init workload render ./shop --in ./hub --secrets | kubectl --kubeconfig hub.kubeconfig apply -f -`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.workloadDefinition.flags(f, o.streams)
	f.BoolVar(&o.secrets, "secrets", false, "print the Secrets instead of the other objects")
	choose(f, &o.format, "output", "o", "plain or yaml: a stream of YAML documents; json: one List", "plain", "yaml",
		"json")
	return c
}

func (o *workloadRenderOptions) run(ctx context.Context, name string) error {
	var unknown error
	if o.format != "plain" && o.format != "yaml" && o.format != "json" {
		unknown = fault.New(fault.Usage, fmt.Sprintf("--output %q is not known", o.format), "Use plain, yaml or json.")
	}
	looking, cluster, err := o.resolve(ctx, name)
	if err := fault.Join(unknown, err); err != nil {
		return err
	}
	if cluster.Management, err = o.managed.connect(ctx, looking); err != nil {
		return err
	}
	notes := &pipeline.Notes{}
	objects, err := cluster.Render(ctx, notes)
	if err != nil {
		return err
	}
	for _, warning := range notes.Warnings {
		oneline.Fprintf(o.streams.Err, "warning: %s\n", warning)
	}
	return o.show(cluster.Management, objects)
}

// keep has Flux leave the object in the cluster when it is removed from the repository: a cluster whose namespace or
// credentials go first cannot be deleted.
func keep(object client.Object) {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[kustomizev1.GroupVersion.Group+"/prune"] = "disabled"
	object.SetAnnotations(annotations)
}

// show prints the objects, or their Secrets.
func (o *workloadRenderOptions) show(management *kube.Cluster, objects []client.Object) error {
	var documents []any
	var left []string
	for _, object := range objects {
		gvk, err := management.GroupVersionKindFor(object)
		if err != nil {
			return fmt.Errorf("find the kind of %s: %w", object.GetName(), err)
		}
		isSecret := gvk.Kind == "Secret"
		if isSecret && !o.secrets {
			left = append(left, object.GetName())
		}
		if isSecret != o.secrets {
			continue
		}
		keep(object)
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return fmt.Errorf("print %s %s: %w", gvk.Kind, object.GetName(), err)
		}
		fields["apiVersion"], fields["kind"] = gvk.GroupVersion().String(), gvk.Kind
		delete(fields, "status")
		documents = append(documents, fields)
	}
	if o.format == "json" {
		list := map[string]any{"apiVersion": "v1", "kind": "List", "items": documents}
		return oneline.WriteJSON(o.streams.Out, list, "")
	}
	var text strings.Builder
	for _, name := range left {
		text.WriteString("# left out: Secret " + name + ", see --secrets\n")
	}
	for _, fields := range documents {
		document, err := yaml.Marshal(fields)
		if err != nil {
			return fmt.Errorf("print the objects as YAML: %w", err)
		}
		text.WriteString("---\n" + string(document))
	}
	_, err := io.WriteString(o.streams.Out, text.String())
	return err
}
