package server_test

import (
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/journal"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

var updateMetrics = flag.Bool("update-metrics", false, "rewrite docs/metrics.md")

const metricsHead = `# Metrics

` + "`/metrics` on `--admin-listen`" + ` serves these metrics for Prometheus, and those of Go and of the process. The table is generated
by ` + "`make metrics`" + `. The number of series is bounded: no label has values that callers choose. [Monitoring](monitoring.md) has alert rules.

` + "`kind`" + ` of ` + "`arbor_admission_*`" + ` is a resource: ` + "`turn`" + ` is processor time for a request, ` + "`child`" + ` memory for git's processes, ` + "`scan`" + ` a
search of histories or files, ` + "`upload`" + ` an incoming push, ` + "`asset`" + ` an incoming file.

| metric | type | labels | meaning |
|---|---|---|---|
`

// An operator who builds alarms finds each metric in the documentation, and it does not vanish
// unnoticed.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	lines := journal.Text(discard{}, slog.LevelInfo)
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.Log = slog.New(lines) })
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	put := `{"message":"m","content":"eA=="}`
	s.Run(t, []apitest.Case{ // so that git has run
		{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Send: put, Status: 201},
		{Do: "GET /repos/alice/garden/commits", Status: 200},
	})
	table := metricsHead + tableOf(t, s)
	testkit.Written(t, filepath.Join("..", "..", "docs", "metrics.md"), table, *updateMetrics, "metrics")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

var sample = regexp.MustCompile(`^(arbor_[a-z_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? `)

// tableOf is a line for each of our metrics, from what the server tells now.
func tableOf(t *testing.T, s *apitest.Server) string {
	t.Helper()
	r := httptest.NewRequest("GET", "http://localhost/metrics", nil)
	w := httptest.NewRecorder()
	s.Server.Admin().ServeHTTP(w, r)
	help, kind, labels := map[string]string{}, map[string]string{}, map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSpace(line)
		if text, found := strings.CutPrefix(line, "# HELP "); found {
			name, text, _ := strings.Cut(text, " ")
			help[name] = text
		} else if text, found := strings.CutPrefix(line, "# TYPE "); found {
			name, text, _ := strings.Cut(text, " ")
			kind[name] = text
		} else if m := sample.FindStringSubmatch(line); m != nil {
			var names []string
			for label := range strings.SplitSeq(m[2], ",") {
				if name, _, found := strings.Cut(label, "="); found && name != "le" {
					names = append(names, "`"+name+"`")
				}
			}
			labels[m[1]] = strings.Join(names, ", ")
		}
	}
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(help)) {
		if strings.HasPrefix(name, "arbor_") {
			fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, kind[name], labels[name], help[name])
		}
	}
	return table.String()
}

// A balancer is told where not to send requests, and what is wrong is not asked for by each of
// its questions.
func TestReadyz(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.DataDir = filepath.Join(o.DataDir, "data") })
	s.Log.AllowErrors()
	dir := filepath.Join(s.Dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	untilReadyz(t, s, "ok\n")
	untilHealthy(t, s)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	untilReadyz(t, s, "the data folder cannot be written")
	untilHealthy(t, s)
	if left, _ := filepath.Glob(filepath.Join(dir, ".ready*")); len(left) > 0 {
		t.Errorf("the probe left %q", left)
	}
}
