// Package capi is the adapter to Cluster API: it reads clusters, machines, control planes and providers, finds the
// objects that a move takes along, and drives clusterctl's move as a library.
//
// Everything is read as unstructured objects or as metadata, so callers may pass a client with any scheme. Clusters and
// Machines are read in v1beta2, the version of the pinned Cluster API release.
package capi
