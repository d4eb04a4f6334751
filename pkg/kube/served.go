package kube

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// NotServed reports whether a list failed because the API server does not serve the kind. The client may not know yet
// that a definition was deleted: then the server answers that it cannot find the resource.
func NotServed(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }
