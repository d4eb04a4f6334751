package plan

import (
	"strings"
	"testing"
)

// names joins what a bundle for the environments holds of the bootstrap providers.
func names(environments ...string) string {
	var found []string
	for _, image := range ProviderImages(environments) {
		found = append(found, image.Reference)
	}
	for _, module := range Modules(environments) {
		found = append(found, "module/"+module.Name)
	}
	return strings.Join(found, "\n")
}

func TestABundleHoldsTheBootstrapProvidersOfItsEnvironments(t *testing.T) {
	kubeadm := []string{"/kubeadm-bootstrap-controller:", "/kubeadm-control-plane-controller:"}
	rke2 := []string{RKE2BootstrapImage + ":", RKE2ControlPlaneImage + ":", "module/" + RKE2Module}
	tests := map[string]struct {
		environments  []string
		holds, leaves []string
	}{
		"kubeadm": {[]string{"kubeadm-capd"}, kubeadm, rke2},
		"rke2":    {[]string{"rke2-capd"}, rke2, kubeadm},
		"both":    {[]string{"kubeadm-capd", "rke2-capd"}, append(kubeadm, rke2...), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := names(test.environments...)
			for _, part := range append(test.holds, "/cluster-api-controller:", "/capd-manager:") {
				if !strings.Contains(found, part) {
					t.Errorf("it lacks %s", part)
				}
			}
			for _, part := range test.leaves {
				if strings.Contains(found, part) {
					t.Errorf("it holds %s", part)
				}
			}
		})
	}
}

func TestCheckEnvironments(t *testing.T) {
	if err := CheckEnvironments([]string{"rke2-capd", "kubeadm-capd"}); err != nil {
		t.Error(err)
	}
	for _, names := range [][]string{nil, {"kubeadm-capd", "kubeadm-capo"}} {
		if err := CheckEnvironments(names); err == nil || !strings.Contains(err.Error(), "kubeadm-capd, rke2-capd") {
			t.Errorf("%v: got %v", names, err)
		}
	}
}
