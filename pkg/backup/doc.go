// Package backup is the form in which the definition of a cluster is kept: a folder, or the same layout in one file
// that age encrypts.
//
//	<name>/objects/      what moves, one YAML file each: what `clusterctl move --from-directory` reads, no more
//	<name>/references/   what the objects refer to and what does not move with them
//	<name>/environment/  values, release and source of the management cluster
//	<name>/workload/     values, releases and sources of its workload clusters
//	<name>/backup.json   the Manifest, which has the digest of every file above
//	<name>/backup.json.sig  its signature, where the user has given a key
//
// It is written under a hidden name, checked, and renamed: what has its name is complete. Opening refuses files that
// are missing, were added or were changed. Only Verify refuses a missing signature.
package backup
