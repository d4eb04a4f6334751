// Package machineadm prepares a machine for kubeadm or RKE2, runs kubeadm once, and reports the outcome. It runs on the
// machine: it reads a MachineConfig, and needs neither a network nor an API server. docs/reference/machineadm.md is its
// contract with those who maintain an operating system's image.
package machineadm
