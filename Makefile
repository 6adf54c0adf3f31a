# What a newcomer needs: make run, make test. "make help" lists the rest.
# Only Go, git and make are needed beforehand; see README.md for what is installed when.

GO      ?= go
# The version that is being made. The manifests in deploy/ name its image.
VERSION := v0.1.0
# With "-dirty" behind it where files differ from the commit.
COMMIT  := $(or $(shell git describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null),unknown)
APP     := controller-manager/cmd/controller-manager/app
LDFLAGS := -s -w -X $(APP).version=$(VERSION) -X $(APP).commit=$(COMMIT)
BINARY  := bin/controller-manager

# In full, as a container runtime reads the name that the manifests have.
IMAGE   := docker.io/library/controller-manager:$(VERSION)
# The processors that a release is for.
export ARCHS ?= arm64 amd64
# The time of all that is packed: that of the commit.
export SOURCE_DATE_EPOCH := $(or $(shell git log -1 --format=%ct 2>/dev/null),0)

# The Go modules of this repository: the product, and what only its tests need.
# test/conformance/specs is left out: it is one file, and takes minutes to compile.
MODULES := . localcluster test/e2e test/better test/conformance test/oracle test/deploy test/node test/mutants

LINT    := $(CURDIR)/bin/golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...

# Each stage prints its name before and its time after.
STAGE   := .ci/stage

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build bin/localcluster ## Start a local control plane and both loops on it, show a rollout, stay
	@bin/localcluster run --binary bin/controller-manager --bin bin --root .

.PHONY: test
test: ## Everything: linters, unit tests with the race detector, end-to-end tests
	@$(STAGE) "lint" $(MAKE) --no-print-directory lint
	@$(STAGE) "unit tests" $(MAKE) --no-print-directory unit
	@$(STAGE) "build" $(MAKE) --no-print-directory build
	@$(STAGE) "local cluster: build" $(MAKE) --no-print-directory cluster-build
	@$(STAGE) "oracle" $(MAKE) --no-print-directory oracle
	@$(STAGE) "simulation" $(MAKE) --no-print-directory sim
	@$(STAGE) "local cluster: tests" $(MAKE) --no-print-directory cluster-test
	@$(STAGE) "manifests" $(MAKE) --no-print-directory manifests
	@$(STAGE) "end-to-end tests" $(MAKE) --no-print-directory e2e

.PHONY: build
build: ## Build bin/controller-manager: static, stripped, with its version
	@CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/controller-manager

.PHONY: image
image: ## Build the image for this machine's processor (IMAGE_FLAGS=...: further flags of that build)
	@tools/image.sh $(IMAGE) linux/$$($(GO) env GOARCH) $(VERSION) $(COMMIT)

.PHONY: image-test
image-test: bin/cyclonedx-gomod ## Prove the image and the release, with bases made on the spot (as root)
	@tools/image-test.sh $(IMAGE) $(VERSION) $(COMMIT)

.PHONY: release
release: bin/cyclonedx-gomod ## Archives, images, lists of contents (SBOM) and checksums of this version, in build/release
	@tools/release.sh $(IMAGE) $(VERSION) $(COMMIT) $(RELEASE)

RELEASE := build/release

.PHONY: vulncheck
vulncheck: bin/govulncheck ## Known faults of what the program is made of
	@tools/vulncheck.sh

.PHONY: unit
unit: race-needs ## Unit tests with the race detector
	@$(GO) test -race ./...
	@$(GO) test -C test/conformance -race ./...
	@$(GO) test -C test/node -race ./...

.PHONY: lint
lint: bin/golangci-lint ## Linters, the import rule among them
	@for module in $(filter-out test/oracle,$(MODULES)); do (cd $$module && $(LINT)) || exit 1; done
	@cd test/oracle && CGO_ENABLED=0 $(LINT)

.PHONY: e2e
e2e: build cluster-build ## End-to-end tests of bin/controller-manager on a local control plane
	@$(GO) test -C test/e2e -count=1 -timeout 20m ./...

.PHONY: parity
parity: build cluster-build ## Compare with the built-in loops: are the golden files still what they do, and do ours do the same
	@echo "== the built-in loops =="; cd test/e2e && E2E_CONTROLLERS=builtin $(PARITY) '^($(GOLDEN))$$'
	@echo "== ours =="; cd test/e2e && $(PARITY) '^($(GOLDEN)|$(BESIDE))$$'

# The tests that compare with golden files, which both must agree with, and those of ours
# that start the built-in loops beside.
GOLDEN := TestSideBySide|TestSameNames
BESIDE := TestSwap|TestTheBuiltInLoopsBeside|TestMetricsHaveTheNamesOfTheBuiltInOnes

# Without ./..., for go test prints what passing tests print only if no package is named.
PARITY := $(GO) test -count=1 -timeout 20m -run

# Without ./..., as for parity.
.PHONY: better
better: build cluster-build ## Show the faults of the built-in loops that ours do not have, under both
	@cd test/better && $(GO) test -count=1 -timeout 30m

.PHONY: manifests
manifests: build cluster-build ## Prove what is in deploy/: on an API server, with kubeadm, by numbers
	@$(GO) test -C test/deploy -count=1 -timeout 20m ./...

.PHONY: kubeadm
kubeadm: build cluster-build ## Prove deploy/kind also for kubeadm's v1beta3 (builds for minutes the first time)
	@cd test/deploy && KUBEADM=all $(GO) test -count=1 -timeout 60m -run Kubeadm -v ./...

.PHONY: cluster-build
cluster-build: bin/localcluster ## Build the local control plane (about 8 minutes the first time, then cached)
	@bin/localcluster build

.PHONY: cluster-test
cluster-test: race-needs ## Tests of the local control plane itself
	@$(GO) test -C localcluster -race -p 1 -count=1 -timeout 15m ./...

# Without cgo, as the local cluster is built: then most of what it imports is compiled already.
.PHONY: oracle
oracle: ## Compare decisions with those of the built-in loops (ORACLE_SEED=n: on other cases)
	@CGO_ENABLED=0 $(GO) test -C test/oracle -count=1 ./...

# The time and the first seed of make sim.
SIM_TIME ?= 60s
SIM_SEED ?= 0
CORES    := ./pkg/controllers/deployment/rollout,./pkg/controllers/replicaset/scale

.PHONY: sim
sim: ## Both loops in a simulated cluster, from many seeds (SIM_TIME=1h: longer; SIM_SEED=n: from that seed)
	@$(GO) test ./pkg/controllers/simulation -count=1 -timeout 0 -v -run '^TestSimulation$$' -coverpkg=$(CORES) -time=$(SIM_TIME) -seed=$(SIM_SEED)

.PHONY: mutants
mutants: ## Prove that the simulation can fail: wrong changes to the program, each of which it must notice
	@$(GO) test -C test/mutants -count=1 -timeout 2h -v ./...

.PHONY: conformance
conformance: build cluster-build bin/conformance ## Kubernetes' own tests of both kinds (CONTROLLERS=builtin: of the built-in loops)
	@$(STAGE) "conformance: build the specs" $(MAKE) --no-print-directory bin/conformance-specs
	@$(STAGE) "conformance: run the specs" bin/conformance

# What is missing is said first, and not after minutes of building.
.PHONY: node
node: ## The shipped static pod on a real kubelet with containerd, step by step (Linux, as root; builds for minutes the first time)
	@tools/node-needs.sh
	@$(STAGE) "node: build" $(MAKE) --no-print-directory cluster-build bin/node bin/pause
	@$(STAGE) "node: images" tools/node-images.sh $(IMAGE) $(VERSION) $(COMMIT) build/node/images
	@$(STAGE) "node: steps" bin/node

.PHONY: tidy
tidy: ## Bring the go.mod files up to date
	@for module in $(MODULES) test/conformance/specs; do $(GO) mod tidy -C $$module || exit 1; done

.PHONY: clean
clean: ## Remove what was built here (not the cached control plane)
	@rm -rf bin build

# The race detector links with a C compiler.
.PHONY: race-needs
race-needs:
	@command -v gcc >/dev/null || { echo "installing gcc, which the race detector needs"; apt-get update -qq && apt-get install -y -qq gcc libc6-dev; }

bin/localcluster: localcluster/go.mod $(shell find localcluster -not -path '*/tools/*' \( -name '*.go' -o -name '*.yaml' \))
	@$(GO) build -C localcluster -o ../bin/localcluster ./cmd/localcluster

bin/conformance: $(shell find localcluster test/conformance -not -path '*/tools/*' -not -path '*/specs/*' \( -name '*.go' -o -name '*.yaml' -o -name go.mod \))
	@$(GO) build -C test/conformance -o ../../bin/conformance ./cmd/conformance

# Without C, like the programs of the local cluster, with which it shares most packages.
bin/conformance-specs: test/conformance/specs/go.mod test/conformance/specs/go.sum $(wildcard test/conformance/specs/*.go)
	@CGO_ENABLED=0 $(GO) build -C test/conformance/specs -ldflags '-s -w' -o ../../../bin/conformance-specs .

bin/node: $(shell find localcluster test/node -not -path '*/tools/*' \( -name '*.go' -o -name '*.yaml' -o -name '*.toml' -o -name '*.conflist' -o -name go.mod \))
	@$(GO) build -C test/node -o ../../bin/node ./cmd/node

# Static, for it is alone in its image.
bin/pause: $(wildcard test/node/cmd/pause/*.go)
	@CGO_ENABLED=0 $(GO) build -C test/node -trimpath -ldflags '-s -w' -o ../../bin/pause ./cmd/pause

bin/cyclonedx-gomod: tools/cyclonedx-gomod/go.mod
	@$(GO) build -C tools/cyclonedx-gomod -o ../../bin/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

bin/govulncheck: tools/govulncheck/go.mod
	@$(GO) build -C tools/govulncheck -o ../../bin/govulncheck golang.org/x/vuln/cmd/govulncheck

bin/golangci-lint: tools/golangci-lint/go.mod
	@$(GO) build -C tools/golangci-lint -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
