package workload

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

const (
	// mostContent is the maximum size of the source's artifact, compressed, in bytes.
	mostContent = 64 << 20
	// readBound is how long source-controller may take to give it.
	readBound = 15 * time.Second
)

// checkContent refuses components whose folder is not in the source of the management cluster. A source that cannot be
// read now, for example behind a network policy, refuses nothing: Flux itself reports a folder that is missing.
func (c Cluster) checkContent(ctx context.Context) error {
	components, err := c.Environment.Components(environment.Workload)
	if err != nil {
		return fmt.Errorf("render the components of workload cluster %s: %w", c.Key(), err)
	}
	content, err := c.content(ctx)
	if err != nil {
		return nil
	}
	return missing(content, components)
}

// missing refuses the components of the source whose folder its content does not have.
func missing(content fs.FS, components []environment.Component) error {
	var problems []error
	for _, component := range components {
		if component.Source != environment.ReleaseName {
			continue // of another repository
		}
		if _, err := fs.Stat(content, path.Clean(component.Path)); err != nil {
			problems = append(problems, fault.New(fault.ComponentUnknown, fmt.Sprintf("the source of the management "+
				"cluster does not have %s, the folder of component %s", component.Path, component.Name),
				"Add the component with enabled: workload-only to the management cluster's environment, and run "+
					"cluster-init up ENVIRONMENT. If its source is your repository, commit the folder there."))
		}
	}
	return fault.Join(problems...)
}

// content returns the manifests in the source of the management cluster's components.
func (c Cluster) content(ctx context.Context) (fs.FS, error) {
	ctx, cancel := context.WithTimeout(ctx, readBound)
	defer cancel()
	_, from, err := ownSources(ctx, c.Management)
	if err != nil {
		return nil, err
	}
	source := &unstructured.Unstructured{}
	source.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(from.Kind))
	if err := c.Management.Get(ctx, client.ObjectKey{Namespace: flux.Namespace, Name: from.Name}, source); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", from.Kind, from.Name, err)
	}
	status, _, err := unstructured.NestedMap(source.Object, "status", "artifact")
	artifact := &meta.Artifact{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(status, artifact)
	}
	if err != nil {
		return nil, fmt.Errorf("read the artifact of %s %s: %w", from.Kind, from.Name, err)
	}
	archive, err := flux.ReadArtifact(ctx, c.Management, artifact, mostContent)
	if err != nil {
		return nil, err
	}
	return definitions.Unpack(archive)
}
