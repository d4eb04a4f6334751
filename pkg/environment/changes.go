package environment

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Change is a difference between what a run requests and what a cluster was last given.
type Change struct {
	// Key names it: a value's path, a component as components.NAME, or what is installed (flux, chart).
	Key string
	// From and To are what the cluster has and what it would get, for people. They are empty for what may be secret.
	From, To string
	// TakesAway says what the change takes from a cluster that is in use. Empty means nothing.
	TakesAway string
}

// String is for people.
func (c Change) String() string {
	if c.From == "" && c.To == "" {
		return c.Key + ": changed"
	}
	return fmt.Sprintf("%s: %s -> %s", c.Key, c.From, c.To)
}

// Changes returns how the environment differs from what a cluster was last given, which is in these objects. A nil
// object did not exist. The changes are sorted by key and contain no secret.
func (e *Environment) Changes(given Objects) ([]Change, error) {
	last, err := given.documents()
	if err != nil {
		return nil, err
	}
	before, after := *e, *e
	before.settle(last)
	after.settle(e.stored) // a login that is not stored is not compared
	changes := differences("", before.settled[e.lasting()], after.settled[e.lasting()], secretPaths(last, e.stored))
	changes = append(changes, before.withoutComponents(e)...)
	for i := range changes {
		if changes[i].TakesAway = takesAway(changes[i], before.spec.Cluster,
			e.spec.Cluster); changes[i].TakesAway == "" && sameProviders(before.spec.Cluster, e.spec.Cluster) {
			changes[i].TakesAway = e.onlyByShell(changes[i].Key, &before)
		}
		if changes[i].Key == "cluster.openstack.clouds_yaml_b64" && changes[i].TakesAway == "" {
			changes[i].TakesAway = before.openstack.elsewhere(e.openstack)
		}
		if why := movesAddress(changes[i].Key); why != "" && e.keepsAddress() {
			changes[i].TakesAway = why
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return compareKeys(a.Key, b.Key) })
	return changes, nil
}

// RefuseRemovals returns an error for the changes that remove something and that the user did not allow.
func RefuseRemovals(changes []Change, allowed []string) error {
	var removals, keys []string
	for _, c := range changes {
		if c.TakesAway != "" && !slices.Contains(allowed, c.Key) {
			removals = append(removals, fmt.Sprintf("%s (%s)", c, c.TakesAway))
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return fault.New(fault.ChangeRefused, "this run would remove, replace or downgrade parts of the cluster: "+
		strings.Join(removals, "; "),
		"Nothing was changed. Use the last values again, or allow the change: --allow-changes "+
			strings.Join(keys, ",")+".")
}

// takesAway returns what a change takes away, by its key. For other keys it returns c.TakesAway.
func takesAway(c Change, before, after Cluster) string {
	switch c.Key {
	case "cluster.control_plane.replicas":
		if after.ControlPlane.Replicas < before.ControlPlane.Replicas {
			return "fewer control-plane machines"
		}
	case "cluster.worker.replicas":
		return fewer(before.Worker, after.Worker)
	case "cluster.infra_provider", "cluster.bootstrap_provider":
		return "another provider makes new machines in place of those that there are"
	case "cluster.bootstrap_format":
		return "another format makes new machines in place of those that there are"
	case "cluster.namespace", "cluster.name":
		return "it is another cluster"
	case "cluster.kubernetes_version":
		if Older(after.KubernetesVersion, before.KubernetesVersion) {
			return "Kubernetes cannot go back to an older version"
		}
	}
	if strings.HasPrefix(c.Key, authoritiesPath) {
		return "the certificates of machines and users are made by the former authority: nothing would trust another"
	}
	if strings.HasPrefix(c.Key, encryptionPath) {
		return after.Kubernetes.EncryptionAtRest.unreadable(before.Kubernetes.EncryptionAtRest)
	}
	if pool, is := strings.CutPrefix(strings.TrimSuffix(c.Key, ".replicas"), "cluster.workers."); is {
		old, had := before.Workers[pool]
		if kept, has := after.Workers[pool]; had && has {
			return fewer(old, kept)
		}
	}
	return c.TakesAway
}

// sameProviders reports whether the same providers make the machines. Other providers make new ones, whatever the shell
// says.
func sameProviders(before, after Cluster) bool {
	return before.InfraProvider == after.InfraProvider && before.BootstrapProvider == after.BootstrapProvider
}

// onlyByShell reports that machines would be replaced for a value that only the shell gives. Empty means this is not
// so.
func (e *Environment) onlyByShell(key string, before *Environment) string {
	v, from := e.shellValueAt(strings.Split(key, "."))
	old, there := below(before.settled[e.lasting()], v.keys)
	if !from || !there || len(v.set) == 0 || !e.replacesMachines(v, old) {
		return ""
	}
	return "machines are replaced, and only the shell asks for it, by " + strings.Join(v.set, ", ")
}

// fewer returns whether a pool of workers loses machines, or may lose some that an autoscaler has added.
func fewer(before, after Pool) string {
	switch {
	case before.Replicas == nil && after.Replicas != nil:
		return "the number of workers is no longer left to an autoscaler: there may be fewer"
	case before.Replicas != nil && after.Replicas == nil && !after.bounded() && *before.Replicas > 1:
		return "fewer workers: Cluster API sets the number to 1 when none is given and the annotations have no bounds"
	case before.Replicas != nil && after.Replicas != nil && *after.Replicas < *before.Replicas:
		return "fewer workers"
	}
	return ""
}

// Older reports whether version a comes before b. An invalid version is not older. Of two releases of RKE2 with one
// Kubernetes the number at the end decides, as in v1.36.4+rke2r1.
func Older(a, b string) bool {
	one, errOne := version.ParseGeneric(a)
	other, errOther := version.ParseGeneric(b)
	if errOne != nil || errOther != nil {
		return false
	}
	if one.EqualTo(other) {
		return rke2Release(a) < rke2Release(b)
	}
	return one.LessThan(other)
}

// rke2Release returns the number of a release of RKE2, or 0.
func rke2Release(version string) int {
	_, release, _ := strings.Cut(version, "+rke2r")
	n, err := strconv.Atoi(release)
	if err != nil {
		return 0
	}
	return n
}

// withoutComponents returns the components that e has and after has not. If either is not known, it returns one change
// that says so.
func (e *Environment) withoutComponents(after *Environment) []Change {
	had, err := e.Components(e.lasting())
	has, errAfter := after.Components(e.lasting())
	// this version of the chart does not accept what the cluster was given
	if err := errors.Join(err, errAfter); err != nil {
		return []Change{{Key: "components", From: "not known", To: strconv.Itoa(len(has)),
			TakesAway: "it is not known which components the cluster has: " + err.Error()}}
	}
	var off []Change
	lacks := func(all []Component, name string) bool {
		return !slices.ContainsFunc(all, func(c Component) bool { return c.Name == name })
	}
	for _, c := range had {
		// The health checks of a pool end with the pool, which is reported itself.
		pool := strings.Replace(c.Name, owned.HealthChecksComponent+"-", "workers-", 1)
		withPool := pool != c.Name && !lacks(had, pool) && lacks(has, pool)
		if lacks(has, c.Name) && !withPool {
			off = append(off, Change{Key: "components." + c.Name, From: "on", To: "off",
				TakesAway: switchedOff(c.Deletes)})
		}
	}
	return off
}

// switchedOff describes what happens to what a component installed.
func switchedOff(deletes bool) string {
	if deletes {
		return "Flux deletes what the component installed, except CRDs and namespaces"
	}
	return "what the component installed stays in the cluster, and nothing keeps it up to date or repairs it"
}

// documents reads the objects back.
func (o Objects) documents() (documents, error) {
	var d documents
	var problems []error
	read := func(what string, text []byte) map[string]any {
		values, err := readValues(text)
		if err != nil {
			// the parser's error may contain a secret
			problems = append(problems, fmt.Errorf("read %s, key %s: it is not YAML", what, ValuesKey))
		}
		return values
	}
	if o.Values != nil {
		d.values = read("ConfigMap "+ValuesName, []byte(o.Values.Data[ValuesKey]))
	}
	if o.Secrets != nil {
		d.secrets = read("Secret "+SecretsName, o.Secrets.Data[ValuesKey])
	}
	if o.InfraSecrets != nil {
		d.infraSecrets = read("Secret "+InfraSecretsName, o.InfraSecrets.Data[ValuesKey])
	}
	return d, errors.Join(problems...)
}
