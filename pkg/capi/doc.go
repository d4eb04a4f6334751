// Package capi is the adapter to Cluster API: it reads clusters, machines, control planes and providers, finds the
// objects that a move takes along, and drives clusterctl's move as a library.
//
// Everything is read as unstructured objects, so callers may hand in a client with any scheme. The API version
// read is v1beta2, the one of the pinned Cluster API release.
package capi
