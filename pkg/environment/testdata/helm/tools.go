//go:build tools

// Package tools names what this module is for.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
