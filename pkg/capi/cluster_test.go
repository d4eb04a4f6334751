package capi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

func TestKubeconfig(t *testing.T) {
	whole := kubeconfig.Of(t, "mgmt", "https://10.0.0.1:6443")
	program := kubeconfig.Of(t, "mgmt", "https://10.0.0.1:6443",
		func(_ *api.Cluster, u *api.AuthInfo) { u.Exec = &api.ExecConfig{Command: "id"} })
	rows := map[string]struct {
		data  map[string][]byte // nil for no Secret
		found bool
		fails string
	}{
		"there": {map[string][]byte{"value": whole}, true, ""},
		"a program": {map[string][]byte{"value": program}, false,
			"the Secret management/mgmt-kubeconfig: the kubeconfig is refused: it has exec"},
		"not yet":   {nil, false, ""},
		"no value":  {map[string][]byte{"other": []byte("x")}, false, `no key "value"`},
		"empty one": {map[string][]byte{"value": {}}, false, `no key "value"`},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			scheme, err := capi.NewScheme()
			if err != nil {
				t.Fatal(err)
			}
			builder := fake.NewClientBuilder().WithScheme(scheme)
			if row.data != nil {
				secret := &corev1.Secret{Data: row.data}
				secret.Namespace, secret.Name = "management", "mgmt-kubeconfig"
				builder = builder.WithObjects(secret)
			}
			got, found, err := capi.Kubeconfig(t.Context(), builder.Build(), client.ObjectKey{Namespace: "management",
				Name: "mgmt"})
			if found != row.found || (found && string(got) != string(whole)) {
				t.Errorf("got %q, %v, want found %v", got, found, row.found)
			}
			if (err != nil) != (row.fails != "") || (err != nil && !strings.Contains(err.Error(), row.fails)) {
				t.Errorf("the error is %v, want %q", err, row.fails)
			}
		})
	}
}

func TestMoveDoesNotStartWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := capi.Move(ctx, capi.MoveInput{From: &rest.Config{}, To: &rest.Config{}, Namespace: "management"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
