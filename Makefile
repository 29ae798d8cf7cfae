# The usual commands. `make ci` is what must pass before a change lands.

.PHONY: build test ci accuracy bench

build:
	go build -o runner ./cmd/runner

test:
	go test ./...

ci:
	.ci/run

# Measures what docs/accuracy.md tells: less than twenty minutes, on a quiet machine.
accuracy:
	go test -tags accuracy -run '^TestAccuracy$$' -count=1 -timeout 60m -v -p 1 ./cmd ./reporters/stats

# Measures docs/performance.md beside wrk, hey, ab, h2load, bombardier and vegeta: six minutes, on a quiet machine.
bench:
	go run ./cmd/internal/bench
