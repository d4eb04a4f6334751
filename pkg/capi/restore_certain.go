package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// certain is the client of a restore. clusterctl reads an object, creates it whatever the error of the read, and treats
// "already exists" as success: from then on it uses the UID of the backup as that of the target. What it creates with
// such an owner is deleted as garbage, a Machine with its server. With certain that is an error, after which clusterctl
// reads again.
type certain struct{ client.Client }

// Create fails for an existing object with an error that clusterctl does not treat as success.
func (c certain) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	err := c.Client.Create(ctx, o, opts...)
	if apierrors.IsAlreadyExists(err) && o.GetUID() != "" {
		return fmt.Errorf("its UID is not known: %v", err) //nolint:errorlint // clusterctl must not recognize the cause
	}
	return err
}
