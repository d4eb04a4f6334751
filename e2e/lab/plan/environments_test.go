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
	docker := []string{"/capd-manager:", "module/cluster-api-docker"}
	openstack := []string{CAPOImage + ":", ORCImage + ":", CloudImage + ":", "module/" + CAPOModule,
		"module/" + ORCModule, "module/" + CPOModule}
	tests := map[string]struct {
		environments  []string
		holds, leaves []string
	}{
		"kubeadm":              {[]string{"kubeadm-capd"}, append(kubeadm, docker...), append(rke2, openstack...)},
		"rke2":                 {[]string{"rke2-capd"}, append(rke2, docker...), append(kubeadm, openstack...)},
		"both":                 {[]string{"kubeadm-capd", "rke2-capd"}, append(kubeadm, rke2...), openstack},
		"kubeadm on OpenStack": {[]string{"kubeadm-capo"}, append(kubeadm, openstack...), append(rke2, docker...)},
		"RKE2 on OpenStack":    {[]string{"rke2-capo"}, append(rke2, openstack...), append(kubeadm, docker...)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := names(test.environments...)
			for _, part := range append(test.holds, "/cluster-api-controller:") {
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

func TestUses(t *testing.T) {
	tests := []struct {
		environments, providers []string
		want                    bool
	}{
		{[]string{"kubeadm-capd", "rke2-capd"}, []string{RKE2}, true},
		{[]string{"kubeadm-capd"}, []string{RKE2}, false},
		{[]string{"rke2-capd", "kubeadm-capo"}, []string{RKE2, OpenStack}, false},
		{[]string{"kubeadm-capd", "rke2-capo"}, []string{RKE2, OpenStack}, true},
	}
	for _, test := range tests {
		if got := Uses(test.environments, test.providers...); got != test.want {
			t.Errorf("%v use %v together: %v", test.environments, test.providers, got)
		}
	}
}

func TestCheckEnvironments(t *testing.T) {
	if err := CheckEnvironments([]string{"rke2-capd", "kubeadm-capd", "kubeadm-capo", "rke2-capo"}); err != nil {
		t.Error(err)
	}
	for _, names := range [][]string{nil, {"kubeadm-capd", "kubeadm-capa"}} {
		if err := CheckEnvironments(names); err == nil ||
			!strings.Contains(err.Error(), "kubeadm-capd, kubeadm-capo, rke2-capd, rke2-capo") {
			t.Errorf("%v: got %v", names, err)
		}
	}
}
