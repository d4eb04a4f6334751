package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// workloadRenderOptions are the flags of `workload render`.
type workloadRenderOptions struct {
	workloadDefinition
	secrets bool
	streams Streams
}

func newWorkloadRender(streams Streams) *cobra.Command {
	o := &workloadRenderOptions{streams: streams}
	c := &cobra.Command{
		Use:   "render ENVIRONMENT --in ENVIRONMENT",
		Short: "Print what workload apply would apply, for a Git repository",
		Long: `render prints the objects that workload apply would apply: the namespace, the sources, the values and
the HelmRelease. It reads the management cluster, and refuses what workload apply refuses. It changes
nothing.

It leaves Secrets out. With --secrets it prints only them, in plain text: encrypt them before you
commit them, or apply them with kubectl.`,
		Example: `  cluster-init workload render ./shop --in ./hub > clusters/shop.yaml
  cluster-init workload render ./shop --in ./hub --secrets | kubectl --kubeconfig hub.kubeconfig apply -f -`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.workloadDefinition.flags(f, o.streams)
	f.BoolVar(&o.secrets, "secrets", false, "print the Secrets instead of the other objects")
	return c
}

func (o *workloadRenderOptions) run(ctx context.Context, name string) error {
	looking, cluster, err := o.resolve(ctx, name)
	if err != nil {
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

// show prints the objects as YAML documents.
func (o *workloadRenderOptions) show(management *kube.Cluster, objects []client.Object) error {
	var text strings.Builder
	for _, object := range objects {
		gvk, err := management.GroupVersionKindFor(object)
		if err != nil {
			return fmt.Errorf("find the kind of %s: %w", object.GetName(), err)
		}
		if isSecret := gvk.Kind == "Secret"; isSecret != o.secrets {
			if isSecret {
				text.WriteString("---\n# Secret " + object.GetName() + ": see --secrets\n")
			}
			continue
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return fmt.Errorf("print %s %s: %w", gvk.Kind, object.GetName(), err)
		}
		fields["apiVersion"], fields["kind"] = gvk.GroupVersion().String(), gvk.Kind
		delete(fields, "status")
		document, err := yaml.Marshal(fields)
		if err != nil {
			return fmt.Errorf("print %s %s: %w", gvk.Kind, object.GetName(), err)
		}
		text.WriteString("---\n" + string(document))
	}
	_, err := io.WriteString(o.streams.Out, text.String())
	return err
}
