package pivot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Backup writes every object of the plan, Secrets included, as one YAML file each into a new folder of dir and
// returns the folder: mode 0700, files 0600. The folder appears under its name only when it is complete.
//
// The files are what `clusterctl move --from-directory` reads. For its sake Clusters and ClusterClasses are written as
// paused, as clusterctl's own backup does: nothing reconciles until all of it is restored. The source itself is not
// touched, unlike by clusterctl's own backup, which pauses it and may fail to resume it.
func Backup(ctx context.Context, source Side, plan Plan, dir string, now time.Time) (string, error) {
	path, err := writeBackup(ctx, source, plan, dir, now)
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("back up the %d objects that would be moved: %w", len(plan.Objects), err),
			fault.PivotFailed, "Nothing was moved. Check that "+dir+" can be written, and run the same command again.")
	}
	return path, nil
}

func writeBackup(ctx context.Context, source Side, plan Plan, dir string, now time.Time) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	staging, err := os.MkdirTemp(dir, ".incomplete-") // MkdirTemp makes it 0700
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(staging)
		}
	}()
	for _, o := range plan.Objects {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(o.APIVersion)
		u.SetKind(o.Kind)
		if err := source.Client.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, u); err != nil {
			return "", fmt.Errorf("read %s: %w", o, err)
		}
		if err := writeObject(filepath.Join(staging, fileName(o)), u); err != nil {
			return "", fmt.Errorf("write %s: %w", o, err)
		}
	}
	path = filepath.Join(dir, owned.Backup(plan.Scope.Cluster, now))
	if err := os.Rename(staging, path); err != nil {
		return "", err
	}
	return path, syncDir(dir)
}

// fileName holds the group too: two kinds of one name in different groups are different objects.
func fileName(o capi.Object) string {
	k := o.Key()
	return strings.Join([]string{k.GroupKind.String(), k.Namespace, k.Name}, "_") + ".yaml"
}

func writeObject(path string, u *unstructured.Unstructured) (err error) {
	pauseCopy(u)
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

func pauseCopy(u *unstructured.Unstructured) {
	switch u.GroupVersionKind().GroupKind() {
	case clusterv1.GroupVersion.WithKind("Cluster").GroupKind():
		_ = unstructured.SetNestedField(u.Object, true, "spec", "paused") // fails only when spec is not an object
	case clusterv1.GroupVersion.WithKind("ClusterClass").GroupKind():
		annotations := u.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[clusterv1.PausedAnnotation] = ""
		u.SetAnnotations(annotations)
	}
}

// syncDir makes the new name itself survive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
