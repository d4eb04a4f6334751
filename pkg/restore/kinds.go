package restore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// unexpected refuses objects that no backup of a definition has. Anyone may have added them, and a restore creates them
// as an administrator. The folder objects/ holds Cluster API's kinds, with their Secrets and ConfigMaps. The folder
// references/ holds only what these name.
func (input Input) unexpected(graph *capi.Graph) error {
	var wrong []error
	refuse := func(section backup.Section, o capi.Object, why string) {
		wrong = append(wrong, fault.New(fault.BackupInvalid, fmt.Sprintf("%s in %s/ %s", o, section, why),
			"Use a backup that you trust: backup --sign-key FILE signs it, and restore --verify-key KEY checks "+
				"the signature."))
	}
	for _, o := range graph.All() {
		switch {
		case o.Key().Group == "" && !graph.MayBeNamed(o.Key().GroupKind):
			refuse(backup.Objects, o, "is of a kind that does not move with a cluster")
		case o.Namespace != "" && !input.inNamespaces(o.Namespace) && !o.Shared:
			refuse(backup.Objects, o, "is in another namespace than the cluster")
		}
	}
	references := input.Backup.Section(backup.References)
	unnamed := graph.Unnamed(references)
	for _, u := range references {
		switch o := capi.ObjectOf(u); {
		case !graph.MayBeNamed(o.Key().GroupKind):
			refuse(backup.References, o, "is of a kind that no object of Cluster API refers to")
		case slices.ContainsFunc(unnamed, func(other capi.Object) bool { return other.Key() == o.Key() }):
			refuse(backup.References, o, "has no object that names it")
		}
	}
	return fault.Join(wrong...)
}

// Creates lists the objects that a restore may create: a line for each kind in each namespace of each section. A
// restore also creates their namespaces.
func (input Input) Creates() []string {
	var lines []string
	for _, section := range []backup.Section{backup.Objects, backup.References, backup.Workload} {
		names := map[string][]string{}
		for _, u := range input.Backup.Section(section) {
			o := capi.ObjectOf(u)
			kind := o.Key().GroupKind.String()
			if o.Namespace != "" {
				kind += " in namespace " + o.Namespace
			}
			names[kind] = append(names[kind], o.Name)
		}
		for kind, all := range names {
			slices.Sort(all)
			lines = append(lines, fmt.Sprintf("%s: %s: %s", section, kind, strings.Join(all, ", ")))
		}
	}
	slices.Sort(lines)
	return lines
}

// Provenance returns what is not known of the backup's author; "" if its signature was verified.
func (input Input) Provenance() string {
	switch by := input.Backup.SignedBy(); {
	case input.Verified:
		return ""
	case by == "":
		return "the backup is not signed: anyone with write access may have changed it"
	default:
		return "the backup names the key " + by + " as its signer, but the signature was not checked: give the " +
			"public key with --verify-key KEY"
	}
}
