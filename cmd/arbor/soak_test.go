//go:build long

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
)

// flat is a measure of a server that must not grow while it works, and by how much it may
// be larger in the last third of the time than in the second: a tenth and this.
type flat struct {
	name  string
	slack float64
	of    func(s *instance, metrics map[string]float64) float64
}

var flats = []flat{
	{"memory in MiB", 24, func(_ *instance, m map[string]float64) float64 {
		return m["process_resident_memory_bytes"] / (1 << 20)
	}},
	{"goroutines", 10, func(_ *instance, m map[string]float64) float64 { return m["go_goroutines"] }},
	{"descriptors", 10, func(_ *instance, m map[string]float64) float64 { return m["process_open_fds"] }},
	{"processes", 4, func(s *instance, _ map[string]float64) float64 {
		return float64(len(processes(s.t, s.data)))
	}},
}

// People write in every way for ARBOR_SOAK, a minute without it: what the server takes stays
// as it is. Then the store is held against what they were told.
func BenchmarkSoak(b *testing.B) {
	length, err := time.ParseDuration(os.Getenv("ARBOR_SOAK"))
	if err != nil {
		length = time.Minute
	}
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		b.Run(engine.String(), func(b *testing.B) {
			admin := freePort(b)
			c := newWorld(b, engine, 1, "--admin-listen", admin)
			c.begin()
			samples := make([][]float64, len(flats))
			for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(time.Second) {
				m := readMetrics(b, admin)
				for i, f := range flats {
					samples[i] = append(samples[i], f.of(c.nodes[0], m))
				}
			}
			c.end()
			for i, f := range flats {
				third := len(samples[i]) / 3
				middle, last := median(samples[i][third:2*third]), median(samples[i][2*third:])
				b.ReportMetric(last, strings.ReplaceAll(f.name, " ", "-"))
				if last > middle*1.1+f.slack {
					b.Errorf("%s grew from %.0f to %.0f", f.name, middle, last)
				}
			}
			c.check()
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// readMetrics are those without labels, by name.
func readMetrics(t testing.TB, admin string) map[string]float64 {
	t.Helper()
	res, err := http.Get(fmt.Sprintf("http://%s/metrics", admin))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	m := map[string]float64{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			m[name] = n
		}
	}
	return m
}
