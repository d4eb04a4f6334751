package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// certain is the client of a restore. clusterctl ignores errors of its reads, and treats "already exists" as success of
// a creation. It then uses the UID of the backup as the UID of the existing object. The garbage collector deletes what
// names such an owner: a Machine with its server. With certain it is an error, after which clusterctl reads again.
type certain struct{ client.Client }

// Create fails for an existing object with an error that clusterctl does not treat as success.
func (c certain) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	err := c.Client.Create(ctx, o, opts...)
	if apierrors.IsAlreadyExists(err) && o.GetUID() != "" {
		return fmt.Errorf("its UID is not known: %v", err) //nolint:errorlint // clusterctl must not recognize the cause
	}
	return err
}
