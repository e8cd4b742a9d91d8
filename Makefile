# The only door to this project: `make` lists what it can do. It needs Go, git and make; the targets install the rest
# themselves (see .ci/install), say what they install, and ask nothing. Written for GNU make 3.81 (macOS) and newer.

# Arguments for the program that a target runs: make run ARGS='--listen 127.0.0.1:2022', make bench ARGS='-rounds 9'
ARGS ?=
# Packages that the test targets run, and flags for go test: make test PACKAGES=./store TESTFLAGS='-run TestLease -v'
PACKAGES ?= ./... ./.ci/gotest
TESTFLAGS ?=
# Where `make install` puts the program.
PREFIX ?= /usr/local
DESTDIR ?=
# How long `make fuzz` tries each target.
FUZZTIME ?= 20s

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# The version is stamped above, so go need not ask git, which refuses a checkout owned by another user.
BUILD := go build -buildvcs=false -ldflags '-X main.version=$(VERSION)'
# Packages run one after the other: the tests of each run beside each other already and bring up servers of their own, and
# a machine that is too busy makes their limits too short.
GOTEST := go run ./.ci/gotest -count=1 -p 1
LINTER := go tool -modfile=.ci/tools/go.mod golangci-lint
SCRIPTS := .ci/install .ci/run .ci/fuzz
RUN_NEEDS := tmux postgres ssh
TEST_NEEDS := $(RUN_NEEDS) ps ip systemd-analyze

.PHONY: help run build test race lint bench install clean fuzz

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: ## install what is missing, build, and serve on 127.0.0.1:2222 (ARGS='...' for the flags of serve)
	@.ci/install $(RUN_NEEDS)
	@$(MAKE) --no-print-directory build
	@exec bin/hitchpost serve $(ARGS)

build: ## build bin/hitchpost
	@echo 'building bin/hitchpost $(VERSION)'
	@$(BUILD) -o bin/hitchpost ./cmd/hitchpost

test: ## install what the tests need and run every test of every package; a skipped test fails
	@.ci/install $(TEST_NEEDS)
	@$(GOTEST) $(TESTFLAGS) $(PACKAGES)

race: ## the same under the race detector, which needs a C compiler
	@.ci/install $(TEST_NEEDS) cc
	@$(GOTEST) -race $(TESTFLAGS) $(PACKAGES)

lint: ## gofmt, go vet, the linters of .golangci.yml, go.mod and the shell scripts (the first run builds the linters)
	@.ci/install shellcheck
	@go mod tidy -diff
	@go vet ./... ./.ci/gotest
	@$(LINTER) run ./... ./.ci/gotest
	@shellcheck $(SCRIPTS)

bench: ## measure beside an OpenSSH sshd with tmux, in one run; never a reason to fail (ARGS='-h' for its flags)
	@.ci/install $(RUN_NEEDS) sshd
	@$(MAKE) --no-print-directory build
	@go build -o bin/hitchpost-bench ./cmd/hitchpost-bench
	@bin/hitchpost-bench $(ARGS)

install: build ## build, and copy the program to PREFIX/bin (PREFIX=/usr/local)
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 bin/hitchpost '$(DESTDIR)$(PREFIX)/bin/hitchpost'

fuzz: ## try every fuzz target for a short while (FUZZTIME=20s)
	@.ci/fuzz $(FUZZTIME)

clean: ## remove what was built; sessions and their data are not touched
	rm -rf bin
