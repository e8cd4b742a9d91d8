# The only door to this project: `make` lists what it can do. It needs Go, git and make; the targets install the rest
# themselves (see .ci/install), say what they install, and ask nothing. Written for GNU make 3.81 (macOS) and newer.

# Arguments for the program that a target runs: make run ARGS='--listen 127.0.0.1:2022', make bench ARGS='-rounds 9'
ARGS ?=
# Packages that the test targets run, and flags for go test: make test PACKAGES=./store TESTFLAGS='-run TestLease -v'
PACKAGES ?= ./... ./.ci/gotest
TESTFLAGS ?=
# Where `make install` puts the program, its manual pages and what shells complete its words with. These are the folders
# in which man, bash, zsh and fish look on Debian and with Homebrew; Debian's own packages (PREFIX=/usr) have their
# files for zsh in $(PREFIX)/share/zsh/vendor-completions.
PREFIX ?= /usr/local
DESTDIR ?=
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
# Where programs are built.
BIN ?= bin
# How long `make fuzz` tries each target.
FUZZTIME ?= 20s

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
DATE := $(shell git log -1 --format=%cs 2>/dev/null)
# The version is stamped above, so go need not ask git, which refuses a checkout owned by another user.
BUILD := go build -buildvcs=false -ldflags '-X main.version=$(VERSION) -X main.date=$(DATE)'
# Packages run one after the other: the tests of each run beside each other already and bring up servers of their own, and
# a machine that is too busy makes their limits too short.
GOTEST := go run ./.ci/gotest -count=1 -p 1
LINTER := go tool -modfile=.ci/tools/go.mod golangci-lint
SCRIPTS := .ci/install .ci/run .ci/fuzz
RUN_NEEDS := tmux postgres ssh
TEST_NEEDS := $(RUN_NEEDS) ps jq ip systemd-analyze mandoc
# The packages that have tests against the real Claude Code, and how those tests are called.
CLAUDE_PACKAGES := ./runtime/claude/... ./cmd/hitchpost
CLAUDE_TESTS := ^TestRealClaude

.PHONY: help run build test race test-claude lint bench install clean fuzz

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

run: ## install what is missing, build, and serve on 127.0.0.1:2222 (ARGS='...' for the flags of serve)
	@.ci/install $(RUN_NEEDS)
	@$(MAKE) --no-print-directory build
	@exec $(BIN)/hitchpost serve $(ARGS)

build: ## build bin/hitchpost
	@echo 'building $(BIN)/hitchpost $(VERSION)'
	@$(BUILD) -o '$(BIN)/hitchpost' ./cmd/hitchpost

test: ## install what the tests need and run every test of every package; a skipped test fails
	@.ci/install $(TEST_NEEDS)
	@$(GOTEST) $(TESTFLAGS) $(PACKAGES)

race: ## the same under the race detector, which needs a C compiler
	@.ci/install $(TEST_NEEDS) cc
	@$(GOTEST) -race $(TESTFLAGS) $(PACKAGES)

test-claude: ## install Claude Code beside the checkout (npm) and test with the real one; needs no account
	@.ci/install $(TEST_NEEDS) claude
	@$(GOTEST) -tags realclaude -parallel 4 -run '$(CLAUDE_TESTS)' $(TESTFLAGS) $(CLAUDE_PACKAGES)

lint: ## gofmt, go vet, the linters of .golangci.yml, go.mod and the shell scripts (the first run builds the linters)
	@.ci/install shellcheck
	@go mod tidy -diff
	@go vet ./... ./.ci/gotest
	@$(LINTER) run ./... ./.ci/gotest
	@shellcheck $(SCRIPTS)

bench: ## measure beside an OpenSSH sshd with tmux, in one run; never a reason to fail (ARGS='-h' for its flags)
	@.ci/install $(RUN_NEEDS) sshd
	@$(MAKE) --no-print-directory build
	@go build -o '$(BIN)/hitchpost-bench' ./cmd/hitchpost-bench
	@$(BIN)/hitchpost-bench $(ARGS)

install: build ## build, and install the program, its manual pages and its completions in PREFIX (PREFIX=/usr/local)
	@'$(BIN)/hitchpost' man 1 > '$(BIN)/hitchpost.1'
	@'$(BIN)/hitchpost' man 7 > '$(BIN)/hitchpost-verbs.7'
	@'$(BIN)/hitchpost' completion bash > '$(BIN)/hitchpost.bash'
	@'$(BIN)/hitchpost' completion zsh > '$(BIN)/hitchpost.zsh'
	@'$(BIN)/hitchpost' completion fish > '$(BIN)/hitchpost.fish'
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/man/man1' '$(DESTDIR)$(PREFIX)/share/man/man7' \
		'$(DESTDIR)$(PREFIX)/share/bash-completion/completions' '$(DESTDIR)$(ZSHDIR)' \
		'$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d'
	install -m 755 '$(BIN)/hitchpost' '$(DESTDIR)$(PREFIX)/bin/hitchpost'
	install -m 644 '$(BIN)/hitchpost.1' '$(DESTDIR)$(PREFIX)/share/man/man1/hitchpost.1'
	install -m 644 '$(BIN)/hitchpost-verbs.7' '$(DESTDIR)$(PREFIX)/share/man/man7/hitchpost-verbs.7'
	install -m 644 '$(BIN)/hitchpost.bash' '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/hitchpost'
	install -m 644 '$(BIN)/hitchpost.zsh' '$(DESTDIR)$(ZSHDIR)/_hitchpost'
	install -m 644 '$(BIN)/hitchpost.fish' '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/hitchpost.fish'

fuzz: ## try every fuzz target for a short while (FUZZTIME=20s)
	@.ci/fuzz $(FUZZTIME)

clean: ## remove what was built; sessions and their data are not touched
	rm -rf bin
