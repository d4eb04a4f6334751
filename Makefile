# Every target sets up what it needs; see CONTRIBUTING.md. `make help` prints the lines that begin with ##.
ENV     ?= kubeadm-capd
ARGS    ?=
OFFLINE ?=
GO      ?= go
# With a larger heap the toolchain needs a fifth less time on a cold machine.
FAST     = GOGC=400
LAB      = $(FAST) $(GO) run ./e2e/lab

MODULE   = github.com/cluster-init/cluster-init
# The release of Kubernetes that `make envtest` downloads: any patch of the lab's minor.
ENVTEST  = 1.36.x

# One set of build flags for everything: then the build cache is shared. -trimpath makes the binary, and the image of
# the registry that is made from it, the same in every clone.
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) -trimpath

.PHONY: help up forecast down build machineadm lint envtest vulnerabilities cover test test-capa test-pivot unit compiler browser sshclient e2e e2e-matrix e2e-pivot e2e-online e2e-openstack bench bench-cleanup bench-pivot bench-workload release sums docs test-docs clean

BUILD    = mkdir -p bin && $(FAST) $(GO) build -ldflags '-s -w' -o bin/cluster-init ./cmd/cluster-init
# What a bundle for the environments needs is downloaded while the lab is compiled, and the CLI is compiled together with it.
PREPARE  = { $(GO) run ./e2e/lab/fetch --env $(1) $(2) & fetch=$$!; $(LAB) prepare --env $(1) $(2); prepared=$$?; test $$prepared = 0 || kill $$fetch 2>/dev/null; wait $$fetch; test $$prepared = 0; }

## help: list the targets
help:
	@echo 'make TARGET [ENV=$(ENV)] [ARGS="flags of cluster-init"] [OFFLINE=1]'; echo
	@sed -n 's/^## \([a-z0-9-]*\): */\1|/p' $(firstword $(MAKEFILE_LIST)) | \
	while IFS='|' read -r target text; do printf '  %-16s%s\n' "$$target" "$$text"; done

## up: build cluster-init, and bring up the management cluster ENV on this machine
# (It first says how long that takes here. It makes sure that a Docker engine runs. It builds the offline bundle if OFFLINE=1
# says so, or if no registry answers)
up: forecast
	@bundle=$$($(call PREPARE,$(ENV),$(if $(OFFLINE),--offline))) && $(BUILD) && \
	bin/cluster-init up $(ENV) $${bundle:+--bundle "$$bundle"} $(ARGS)

## down: delete what `make up` made, although it manages itself
down: build
	bin/cluster-init cleanup $(ENV) --yes --force $(notdir $(ENV:%/=%)) $(ARGS)

forecast:
	@$(GO) run ./e2e/lab/forecast --env $(ENV) $(if $(OFFLINE),--offline)

## build: compile cluster-init to bin/cluster-init
build:
	@$(BUILD)

## machineadm: compile the program that prepares machines, and print its digests
machineadm:
	@mkdir -p bin && for arch in amd64 arm64; do GOOS=linux GOARCH=$$arch $(FAST) $(GO) build -buildvcs=false -ldflags '-s -w' -o bin/machineadm-$$arch ./cmd/machineadm || exit 1; done
	@cd bin && sha256sum machineadm-amd64 machineadm-arm64

APART = ^Test((Restore)?Struck|WhatClusterctlLeaves|AnotherMachineEnds|AMoveIsFinished|AMoveBackThatIsCutOff|HalfDoneMoves|RestoreIsRefused|PivotResumeAndRollback|PivotPlanOfTwoClusters|RestoreOfABackup|CommandsThatOnlyLook|Scripts)
TEST  = -vet=off -ldflags='-s -w' -timeout 20m -tags integration

## test: unit and integration tests, with real API servers and Docker; CI=1: race detector
# (With KUBEBUILDER_ASSETS, as `make envtest` prints it, the API server is neither compiled nor is an engine started: then no root is
# needed. Without the race detector run what is APART, which starts processes of its own or moves clusters dozens of times, and pkg/environment, which renders and starts no goroutine: it makes them ten times as slow. go vet has just run; without debug information the many test binaries are linked in half the time)
test: $(if $(CI),compiler browser sshclient test-docs)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt-ed: $$unformatted"; exit 1; }
	@binaries=$$($(LAB) binaries $(if $(KUBEBUILDER_ASSETS),--without-servers,--engine)) && \
	export CLUSTER_INIT_TEST_BINARIES=$$binaries $(if $(CI),CGO_ENABLED=1) && \
	$(FAST) $(GO) vet $(if $(CI),-race) -tags integration ./... && \
	tested=$$($(GO) list -tags integration ./...) && \
	$(FAST) $(GO) test $(if $(CI),-race -skip '$(APART)') $(TEST) $$(echo "$$tested" $(if $(CI),| grep -v '/pkg/environment$$')) $(if $(CI),&& \
	CGO_ENABLED=0 $(FAST) $(GO) test -run '$(APART)' $(TEST) ./pkg/pivot ./pkg/cli && \
	CGO_ENABLED=0 $(FAST) $(GO) test $(TEST) ./pkg/environment)

## test-capa: kubeadm-capa with the real controllers of Cluster API and its AWS provider
# (They make a cluster in a stand-in for AWS, by Python and moto. The webhooks of all providers admit all definitions. And
# cert-manager as the lab builds it; the controllers take minutes to compile for the first time)
test-capa:
	@binaries=$$($(LAB) binaries --managers) && \
	CLUSTER_INIT_TEST_BINARIES=$$binaries $(FAST) $(GO) test -tags integration,capa -count=1 -v -timeout 15m -run 'TestKubeadmCAPA|TestCertManager|TestDefinitionsAreAdmitted' ./pkg/up ./pkg/internal/providers ./pkg/environment

## test-pivot: faults at every write of a pivot and of a restore; 75 minutes
# (Between two real API servers a run is killed, loses a reply, meets an outage or reads what is old, and so do half of the runs
# that finish it. CLUSTER_INIT_TEST_SEED=N replays a run)
test-pivot:
	@binaries=$$($(LAB) binaries) && \
	CLUSTER_INIT_TEST_ALL=1 CLUSTER_INIT_TEST_BINARIES=$$binaries $(FAST) $(GO) test -tags integration -count=1 -v -timeout 170m -parallel 6 -run 'Test(Restore)?Struck' ./pkg/pivot

## bench-pivot: time to move 1, 10 and 100 clusters, compared with clusterctl
bench-pivot:
	@mkdir -p bin; binaries=$$($(LAB) binaries) && $(FAST) $(GO) build -modfile=e2e/bench/clusterctl/go.mod -o bin/clusterctl sigs.k8s.io/cluster-api/cmd/clusterctl && \
	CLUSTER_INIT_CLUSTERCTL=$(CURDIR)/bin/clusterctl CLUSTER_INIT_TEST_BINARIES=$$binaries $(FAST) $(GO) test -tags integration,bench -count=1 -v -timeout 60m -run TestBenchPivot ./pkg/pivot

## unit: the tests that need only Go
unit:
	$(FAST) $(GO) test ./...

## cover: the coverage of the unit tests, as one figure
cover:
	@mkdir -p bin; $(FAST) $(GO) test -vet=off -coverprofile=bin/cover.out ./cmd/... ./pkg/... >bin/cover.log || { cat bin/cover.log; exit 1; }
	@$(GO) tool cover -func=bin/cover.out | tail -n 1

CHECKS   = $(GO) tool -modfile=e2e/lint/go.mod

# Methods that keep credentials out of logs: what calls them, calls them through interfaces that deadcode does not see.
GUARDS   = \.(Format|LogValue|MarshalJSON)$$

## lint: golangci-lint, with .golangci.yml; and functions of pkg that no program reaches
# (a cache for each clone: it keeps paths, and with those of another clone the exclusions would not match)
lint:
	@GOLANGCI_LINT_CACHE=$(CURDIR)/bin/lint $(FAST) $(CHECKS) golangci-lint run
	@unreached=$$($(FAST) $(CHECKS) deadcode -filter '^$(MODULE)/pkg' ./cmd/... ./e2e/lab/... ./e2e/recording ./e2e/release) && \
	! echo "$$unreached" | grep -Ev '^$$|^pkg/internal/|($(GUARDS))'

## vulnerabilities: known vulnerabilities in what cluster-init calls; needs internet
vulnerabilities:
	@$(FAST) $(CHECKS) govulncheck ./cmd/...

## envtest: download kube-apiserver and etcd, and print KUBEBUILDER_ASSETS; needs internet
envtest:
	@$(FAST) $(CHECKS) setup-envtest use $(ENVTEST) -p path

# The race detector needs a C compiler, and all that is tested compiled a second time: hence only where CI is set.
compiler:
	@command -v gcc >/dev/null || { apt-get update -qq && apt-get install -y -qq gcc libc6-dev; }

# What runs on machines by ssh is tested with the real client.
sshclient:
	@command -v ssh >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends openssh-client; }

# The page of a run is looked at in a browser; a developer without one is told that it was not.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }

E2E_ENVS = kubeadm-capd,rke2-capd,kubeadm-capo
ALL_ENVS = $(E2E_ENVS),rke2-capo
E2E = CLUSTER_INIT_TEST_BUNDLE=$$bundle CLUSTER_INIT=$(CURDIR)/bin/cluster-init $(FAST) $(GO) test -tags e2e -count=1 -v
ON_OPENSTACK = CLUSTER_INIT_OPENSTACK=$$clouds CLUSTER_INIT=$(CURDIR)/bin/cluster-init $(FAST) $(GO) test -tags openstack -count=1 -v -timeout 40m

## e2e: `up` and `cleanup` from end to end on the lab; OFFLINE=1: with a bundle
# (Without OFFLINE=1 it builds a bundle only if no registry answers; without one, tests that need it are skipped, in CI they fail. OpenStack is installed
# beside the bundle's build, and started when the runs on Docker have ended: its idle daemons take a quarter of two cores. The runs on OpenStack come one after the other: together they starve the controllers of the clusters)
e2e:
	@mkdir -p bin; $(LAB) openstack install & cloud=$$!; \
	bundle=$$($(call PREPARE,$(E2E_ENVS),$(if $(OFFLINE),--offline))); prepared=$$?; \
	wait $$cloud && test $$prepared = 0 && $(BUILD) && \
	$(E2E) -timeout 60m -skip '^Test(Matrix|Pivot|UpOpenStack)' ./e2e && \
	$(E2E) -timeout 10m -run '^TestAReal' ./pkg/provider/docker/addresses && \
	clouds=$$($(LAB) openstack start) && \
	$(E2E) -timeout 40m -run '^TestUpOpenStack' ./e2e && $(ON_OPENSTACK) -p 1 -skip '^TestBench' ./pkg/openstack/preflight ./e2e/cleanup

## e2e-matrix: the extended end-to-end tests; 2.7 hours
# (Several machines, rolling replacement, RKE2 on OpenStack, formats, reboots, two runs at once, proxies, mirrors, TLS;
# docs/contributing/evidence/measurements.md has the last result)
e2e-matrix: build
	@bundle=$$($(LAB) prepare --env $(ALL_ENVS) --offline) && clouds=$$($(LAB) openstack start) && \
	CLUSTER_INIT_TEST_ALL=1 OS_CLIENT_CONFIG_FILE=$$clouds $(E2E) -timeout 240m -run '^Test(Matrix|Up$$)' ./e2e

## e2e-pivot: `up`, `down` and `restore` killed at ten instants each, and a rollback; 1.5 hours
e2e-pivot: build
	@bundle=$$($(LAB) prepare --env $(ALL_ENVS) --offline) && clouds=$$($(LAB) openstack start) && \
	OS_CLIENT_CONFIG_FILE=$$clouds $(E2E) -timeout 170m -run '^TestPivot' ./e2e

## e2e-online: environment rke2-capd with the real RKE2; needs internet
e2e-online: build
	@CLUSTER_INIT=$(CURDIR)/bin/cluster-init $(GO) test -tags e2e,online -count=1 -v -timeout 60m -run Online ./e2e

## bench: time of each phase of `up`, compared with its floor
bench: build
	@bundle=$$($(LAB) prepare --env $(ENV) --offline) && \
	CLUSTER_INIT_TEST_BUNDLE=$$bundle CLUSTER_INIT=$(CURDIR)/bin/cluster-init $(GO) test -tags bench -count=1 -v -timeout 60m -skip '^TestWorkloads$$' ./e2e/bench

## bench-workload: 1, 10, 50 and 200 simulated workload clusters in one management cluster
bench-workload: build
	@bundle=$$($(LAB) prepare --env kubeadm-capd --offline) && \
	CLUSTER_INIT_TEST_BUNDLE=$$bundle CLUSTER_INIT=$(CURDIR)/bin/cluster-init $(GO) test -tags bench -count=1 -v -timeout 180m -run '^TestWorkloads$$' ./e2e/bench

## e2e-openstack: the OpenStack part of `make e2e`: preflight and `cleanup`
e2e-openstack: build
	@clouds=$$($(LAB) openstack start) && $(ON_OPENSTACK) -skip '^TestBench' ./pkg/openstack/preflight ./e2e/cleanup

## bench-cleanup: time to clean up 200 OpenStack resources, compared with the openstack client
bench-cleanup: build
	@clouds=$$($(LAB) openstack start) && $(ON_OPENSTACK) -run '^TestBench' ./e2e/cleanup

# goreleaser reads nothing from a repository without a remote, not even the commit: then it is told the address for this run.
REMOTE = $(if $(shell git remote),,GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/cluster-init/cluster-init.git)

## release: archives, SBOMs, checksums and image in dist/; PUBLISH=1 makes a draft
# (A snapshot without PUBLISH=1; unsigned without SIGN=1, which the pipeline sets; docs/contributing/release.md. It refuses
# release files without a digest; UNPINNED=1 lets a snapshot have them. One build after the other: their hook writes the image
# from the binaries that are there)
release:
	$(if $(and $(UNPINNED),$(if $(PUBLISH),,snapshot)),,$(GO) run ./e2e/release pinned)
	$(REMOTE) $(GO) tool -modfile=e2e/release/tools/go.mod goreleaser release --clean --parallelism 1 $(if $(PUBLISH),,--snapshot) $(if $(SIGN),,--skip=sign)
	$(GO) run ./e2e/release verify dist

## sums: write digests of release files, and the files of Kubernetes; needs internet
sums:
	$(GO) run ./e2e/release sums

## docs: build the site from docs/ into dist/site
docs:
	@$(GO) -C docs/site run . .. $(CURDIR)/dist/site

## test-docs: all links of the built site, and its pages in a browser, if Chromium is installed
test-docs: $(if $(CI),browser)
	@$(GO) -C docs/site test -count=1 ./...

## clean: delete bin and dist
clean:
	rm -rf bin dist
