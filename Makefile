# make            lists the targets
# make test       what README says
.DEFAULT_GOAL := help
GO ?= go

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the program as ./arbor
	$(GO) build -trimpath -o arbor ./cmd/arbor

demo: ## Run a throwaway server with something in it
	$(GO) run ./cmd/arbor demo

test: ## Run the default tests: SQLite, no browsers, no programs of others
	$(GO) test ./...

test-all: ## Run every test: both engines, browsers, kills, sieges, large packs, programs of others
	$(GO) test -tags long -timeout 60m ./...

ci: ## Run what must pass before anything lands
	.ci/run

# Packages in which goroutines meet. SQLite is Go and slow under the race detector, so PostgreSQL stands for it.
RACE := ./internal/account/... ./internal/activity ./internal/admission ./internal/cache ./internal/certificate ./internal/db \
	./internal/ephemeral ./internal/file ./internal/git/... ./internal/gitdata/... ./internal/hook/... ./internal/issue/... \
	./internal/journal ./internal/keyed ./internal/mail ./internal/packs ./internal/plant ./internal/reaction ./internal/repo/... ./internal/review \
	./internal/search ./internal/server ./internal/ssh ./internal/web \
	./internal/test/accounts ./internal/test/issues ./internal/test/pulls ./internal/test/repos
race: ## Run the tests of what runs concurrently under the race detector
	ARBOR_TEST_ENGINES=postgres $(GO) test -race -timeout 60m $(RACE)

bench: ## Measure the promises: ratios within one run, each next to its bound
	$(GO) test -tags long -run '^$$' -bench . -benchtime 1x -timeout 90m ./internal/test/bench

# What goes on for long keeps its folders on a disk: memory has no room for all that it may write.
DISK := TMPDIR=$(or $(TMPDIR),/tmp)

SIEGE ?= 10m
siege: ## Attack a server on each engine, and one with TLS, for SIEGE each while honest callers work
	$(DISK) $(GO) test -tags long ./internal/test/load -count=1 -v -timeout 60m -run TestSiege -args -for $(SIEGE)

KILLS ?= 50
kills: ## Kill a server at KILLS steps of each kind of work, and at every step of a merge
	$(DISK) ARBOR_TEST_KILLS=$(KILLS) $(GO) test -tags long ./cmd/arbor -count=1 -v -timeout 120m -run TestKilled

SOAK ?= 10m
soak: ## Let people read and write in every way for SOAK on each engine: what the server takes must not grow
	$(DISK) $(GO) test -tags long ./internal/test/load -run '^$$' -bench Soak -benchtime 1x -timeout 120m -args -for $(SOAK)

N ?= 100
crash: ## Let people write in every way while N faults befall the servers, and hold the store against what they were told
	$(DISK) ARBOR_TEST_KILLS=$(N) $(GO) test -tags long ./cmd/arbor -count=1 -v -timeout 240m -run TestCrash

CHAOS ?= 1000
chaos: ## Disturb three nodes without a shared disk, their clocks, PostgreSQL with its standby and the bucket, CHAOS times
	$(DISK) ARBOR_CHAOS=$(CHAOS) $(GO) test -tags long ./cmd/arbor -count=1 -v -timeout 240m -run TestChaos

microbench: ## Run the benchmarks of the hot paths
	$(GO) test -tags long -run '^$$' -bench . ./internal/fulltext ./internal/cache ./internal/account \
		./internal/avatar ./internal/plant ./internal/gitdata/... ./internal/markdown ./internal/graphql ./internal/graphql/document \
		./internal/reaction ./internal/issue ./internal/repo ./internal/server \
		./internal/test/issues ./internal/test/repos

routes: ## Update the table of all endpoints
	$(GO) test ./internal/server -run TestTheTableIsWrittenDown -count=1 -args -update-routes

addresses: ## Update the list of the addresses of GitHub's API
	$(GO) test -tags long ./internal/test/conformance -run TestPayloadsAddresses -count=1 -args -update-addresses

schema: ## Update the schema of GraphQL to GitHub's, and the document of its fields
	$(GO) test -tags long ./internal/graphql/schema -run TestSchemaIsGitHubs -count=1 -args -update-schema
	$(GO) test ./internal/graphql -run TestFieldsAreDocumented -count=1 -args -update-fields

metrics: ## Update the table of all metrics
	$(GO) test ./internal/server -run TestMetricsAreDocumented -count=1 -args -update-metrics

settings: ## Update the table of all settings
	$(GO) test ./cmd/arbor -run TestSettingsAreDocumented -count=1 -args -update-settings

lib: ## Build the scripts of libraries that few pages load, and the icons, see internal/page/lib
	cd internal/page/lib && npm ci --ignore-scripts --no-audit --no-fund && node build.js && node icons.js && rm -r node_modules

screenshots: ## Take the pictures of the pages in docs/pages
	mkdir -p docs/pages
	ARBOR_SCREENSHOTS=$(CURDIR)/docs/pages $(GO) test -tags long ./cmd/arbor -run TestScreenshots -count=1

style: ## Take the pictures of the style page that a test compares; look at what changed before you commit them
	mkdir -p internal/test/pages/testdata/style && rm -f internal/test/pages/testdata/style/*.png
	ARBOR_STYLE=renew $(GO) test -tags long ./internal/test/pages -run TestStyleLooksAsBefore -count=1

conformance: ## Print how answers compare with GitHub's own description of its API
	$(GO) -C internal/test/conformance test -tags long -count=1 -run TestPayloads -args -report

gitea: ## Import from a real Gitea, which is built once in about ten minutes
	$(GO) test -tags long,gitea ./internal/test/repos -run TestImportOfGitea -count=1

FUZZTIME ?= 10s
fuzz: ## Run each fuzz test for FUZZTIME
	@for f in $$(grep -rl '^func Fuzz' --include='*_test.go' internal cmd); do \
		for n in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$f); do \
			$(GO) test -run '^$$' -fuzz "^$$n\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$$(dirname $$f) || exit 1; \
		done; \
	done

VERSION ?= $(shell cat VERSION)
NFPM := $(GO) run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0
SBOM := $(GO) run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
release: ## Build archives, Debian packages, an SBOM and checksums of VERSION below dist
	rm -rf dist && mkdir dist
	$(GO) run ./cmd/arbor man > dist/arbor.1
	$(SBOM) app -json -licenses -main cmd/arbor -output dist/arbor-$(VERSION).cdx.json .
	@set -e; for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
		os=$${platform%/*} arch=$${platform#*/}; dir=arbor-$(VERSION)-$$os-$$arch; \
		echo $$dir; mkdir dist/$$dir; cp -r README.md CHANGELOG.md SECURITY.md LICENSE deploy dist/arbor.1 dist/$$dir; \
		mkdir dist/$$dir/docs; cp docs/*.md dist/$$dir/docs; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" \
			-o dist/$$dir/arbor ./cmd/arbor; \
		tar -C dist --owner=0 --group=0 --numeric-owner --sort=name --mtime=@$$(git log -1 --format=%ct) -czf dist/$$dir.tar.gz $$dir; \
		if [ $$os = linux ]; then \
			ARCH=$$arch VERSION=$(VERSION) BINARY=dist/$$dir/arbor $(NFPM) package -f deploy/nfpm.yaml -p deb -t dist; \
		fi; \
		rm -r dist/$$dir; \
	done
	rm dist/arbor.1
	cd dist && sha256sum * > SHA256SUMS

.PHONY: help build demo test test-all ci race bench siege soak kills chaos crash microbench routes schema metrics settings lib screenshots style conformance gitea fuzz release
