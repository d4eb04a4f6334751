package pivot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// unverifiedSuffix is that of a file beside a backup whose move has not been verified yet. It is not in the folder: clusterctl takes all
// that is in there for objects.
const unverifiedSuffix = ".unverified"

// markUnverified writes that file, before the move: only what was verified takes it away.
func markUnverified(backup string) error {
	if err := os.WriteFile(backup+unverifiedSuffix, nil, 0o600); err != nil {
		return fault.Wrap(fmt.Errorf("note that the move is not verified yet: %w", err), fault.PivotFailed, "Nothing was moved. Check that the folder can be written, and run the same command again.")
	}
	return syncDir(filepath.Dir(backup))
}

// markVerified takes it away, and those of earlier attempts: what has arrived now is what counts.
func markVerified(backup, cluster string) error {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(backup), "*"+unverifiedSuffix))
	for _, file := range files {
		if owned.IsBackup(cluster, strings.TrimSuffix(filepath.Base(file), unverifiedSuffix)) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	if err != nil {
		return fmt.Errorf("note that the move is verified: %w", err)
	}
	return nil
}

// Unverified returns the newest backup of a cluster in dir if nobody has seen that all of it arrived; "" if there is none.
func Unverified(dir, cluster string) (backup string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for a move that was not verified: %w", err)
	}
	for _, e := range slices.Backward(entries) { // names end with the time
		if !e.IsDir() || !owned.IsBackup(cluster, e.Name()) {
			continue
		}
		newest := filepath.Join(dir, e.Name())
		_, err := os.Stat(newest + unverifiedSuffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("look whether the move was verified: %w", err)
		}
		return newest, nil
	}
	return "", nil
}

// VerifyBackup repeats the verification of a move that ended unverified: all that the backup holds is on the target, but for machines and
// what is made for each, which Cluster API may have replaced meanwhile, and the Cluster itself is not paused. What may be left at the source
// is not looked at: an observation of both sides shows it.
func VerifyBackup(ctx context.Context, target Side, scope Scope, backup string) error {
	planned, err := readBackup(backup)
	if err != nil {
		return fault.Wrap(err, fault.PivotFailed, "Compare what was backed up with the management cluster. If nothing is missing, remove "+backup+unverifiedSuffix+".")
	}
	there, err := capi.Discover(ctx, target.Client, scope.Namespace)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	clusters, err := capi.Clusters(ctx, target.Client, scope.Namespace)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	var wrong []error
	for _, o := range missing(planned, there.All()) {
		wrong = append(wrong, fmt.Errorf("%s did not arrive on the target", o))
	}
	for _, c := range clusters {
		if c.Name == scope.Cluster && c.Paused {
			wrong = append(wrong, fmt.Errorf("%s is still paused on the target", c))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return fault.Wrap(fmt.Errorf("an earlier move did not end as planned: %w", err), fault.PivotFailed,
			"What was there before the move is in "+backup+". Compare it with the management cluster. When nothing is missing that is needed, remove "+backup+unverifiedSuffix+
				", and run the same command again.")
	}
	return markVerified(backup, scope.Cluster)
}

// ofOneMachine says whether an object goes when its machine is replaced.
func ofOneMachine(u *unstructured.Unstructured) bool {
	passing := []string{"Machine", "MachineSet", "KubeadmConfig", "RKE2Config"}
	return slices.Contains(passing, u.GetKind()) ||
		slices.ContainsFunc(u.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return slices.Contains(passing, o.Kind) })
}

// readBackup returns what a backup holds, without what is of one machine.
func readBackup(backup string) ([]capi.Object, error) {
	all, err := readObjects(backup)
	if err != nil {
		return nil, err
	}
	var objects []capi.Object
	for _, u := range all {
		if !ofOneMachine(u) {
			objects = append(objects, capi.ObjectOf(u))
		}
	}
	slices.SortFunc(objects, func(a, b capi.Object) int { return strings.Compare(a.String(), b.String()) })
	return objects, nil
}

// readObjects returns all that a backup holds, as it was.
func readObjects(backup string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(backup, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = errors.New("it holds no objects")
	}
	if err != nil {
		return nil, fmt.Errorf("read the backup %s: %w", backup, err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the backup: %w", err)
		}
		u := &unstructured.Unstructured{}
		if yaml.Unmarshal(text, &u.Object) != nil || u.GetName() == "" { // the parser's own words may hold a secret
			return nil, fmt.Errorf("read the backup: %s holds no object", file)
		}
		objects = append(objects, u)
	}
	return objects, nil
}
