package main

import (
	"strings"
	"testing"
)

func TestForecast(t *testing.T) {
	tests := map[string]struct {
		machine     machine
		cores       int
		says, never []string
	}{
		"all is there": {machine{engine: true, cache: true, bundle: true, modules: 13}, 2,
			[]string{"make up takes about 3 min here, with 2 cores", "cluster-init up", "uses an offline bundle"},
			[]string{"from source", "next time", "compile"}},
		"all is there, chosen": {machine{engine: true, cache: true, bundle: true, chosen: true, modules: 13}, 2,
			[]string{"make up takes about 3 min here"}, []string{"registry", "bundle"}},
		"bare, without registries": {machine{bundle: true, modules: 13,
			missing: append([]string{"kubernetes"}, make([]string, 12)...)}, 2,
			[]string{"install a Docker engine", "compile the CLI", "no container registry answers", "13 of 13 modules",
				"The next time about 3 min", "OFFLINE=1 is not set", "Ctrl-C"}, nil},
		"bare, with registries": {machine{}, 2, []string{"install a Docker engine", "compile the CLI"},
			[]string{"bundle"}},
		"one module changed": {machine{engine: true, cache: true, bundle: true, chosen: true, modules: 13,
			missing: []string{"etcd"}}, 2,
			[]string{"a bundle is asked for", "1 of 13 modules"}, []string{"Kubernetes", "o container registry", "OFFLINE"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.machine.text(test.cores)
			for _, part := range test.says {
				if !strings.Contains(got, part) {
					t.Errorf("it does not say %q:\n%s", part, got)
				}
			}
			for _, part := range test.never {
				if strings.Contains(got, part) {
					t.Errorf("it says %q:\n%s", part, got)
				}
			}
		})
	}
}

func TestForecastGoesByTheCores(t *testing.T) {
	bare := machine{}
	if two, eight := bare.text(2), bare.text(8); !strings.Contains(two, "4 min    download") ||
		!strings.Contains(eight, "50 s     download") {
		t.Errorf("on 2 cores\n%son 8\n%s", two, eight)
	}
}
