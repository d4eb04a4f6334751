package capi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Copy is what another cluster has under the name of a Secret or ConfigMap.
type Copy int

// No object, one with the same data, or one with other data.
const (
	NoCopy Copy = iota
	SameCopy
	OtherCopy
)

// CopyOf compares the type and data of a Secret or ConfigMap of two clusters. It returns NoCopy if either cluster lacks
// it, and for other kinds.
func CopyOf(ctx context.Context, key Key, here, there client.Client) (Copy, error) {
	if key.GroupKind != secretKind.GroupKind() && key.GroupKind != configMapKind.GroupKind() {
		return NoCopy, nil
	}
	one, err := readNamed(ctx, here, key)
	if err != nil {
		return NoCopy, fmt.Errorf("source: %w", err)
	}
	other, err := readNamed(ctx, there, key)
	if err != nil {
		return NoCopy, fmt.Errorf("target: %w", err)
	}
	if one == nil || other == nil {
		return NoCopy, nil
	}
	for _, field := range []string{"type", "data", "binaryData"} {
		if !equality.Semantic.DeepEqual(one.Object[field], other.Object[field]) {
			return OtherCopy, nil
		}
	}
	return SameCopy, nil
}
