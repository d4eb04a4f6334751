package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// certain is the client of a restore. clusterctl reads an object, creates it whatever the read failed with, and takes
// "it exists already" for success: from then on it has the UID of the backup for that of the target, and what it
// creates with such an owner is deleted as garbage, a Machine with its server. Here that is an error, after which
// clusterctl reads again.
type certain struct{ client.Client }

// Create fails for what exists already with an error that clusterctl does not take for success.
func (c certain) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	err := c.Client.Create(ctx, o, opts...)
	if apierrors.IsAlreadyExists(err) && o.GetUID() != "" {
		return fmt.Errorf("its UID is not known: %v", err) // not wrapped: it is not to be recognised
	}
	return err
}
