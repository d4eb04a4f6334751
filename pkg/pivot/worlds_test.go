package pivot_test

import (
	"testing"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inNamespace(u *unstructured.Unstructured) *unstructured.Unstructured {
	u.SetNamespace(fixture.Namespace)
	return u
}

func oneOf(u *unstructured.Unstructured) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{u}
}

// tenantSecret returns a Secret that would move, and that no object of the source owns.
func tenantSecret() *unstructured.Unstructured {
	u := fixture.One("Secret", "cloud-credentials")[0].DeepCopy()
	u.SetName("tenant-credentials")
	return u
}

// recipient returns a recipient who can open a backup.
func recipient(t *testing.T) backup.Recipients {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	must(t, err)
	r, err := backup.ParseRecipients("--recipient", []string{key.Recipient().String()})
	must(t, err)
	return r
}
