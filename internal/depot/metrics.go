package depot

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count what depots do. nil counts nothing.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	damaged  prometheus.Counter
}

// operations are the values of a label.
var operations = []string{"put", "get", "copy", "delete", "list", "sign"}

// NewMetrics returns metrics that start at 0.
func NewMetrics() *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "arbor_depot_requests_total",
			Help: "Requests to the storage of --objects, by operation and by outcome: ok, missing or failed."},
			[]string{"operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "arbor_depot_request_seconds",
			Help:    "Time that requests to the storage of --objects take, of downloads to the first byte, by operation.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 60}}, []string{"operation"}),
		damaged: prometheus.NewCounter(prometheus.CounterOpts{Name: "arbor_depot_damaged_total",
			Help: "Files in the storage of --objects that were found missing or altered when they were read."}),
	}
	for _, operation := range operations {
		m.requests.WithLabelValues(operation, "ok") // start at 0, so that alerts find the series
		m.requests.WithLabelValues(operation, "failed")
		m.seconds.WithLabelValues(operation)
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	m.requests.Describe(to)
	m.seconds.Describe(to)
	m.damaged.Describe(to)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.requests.Collect(to)
	m.seconds.Collect(to)
	m.damaged.Collect(to)
}

// Damaged counts an object that is not what was put.
func (m *Metrics) Damaged() {
	if m != nil {
		m.damaged.Inc()
	}
}

func (m *Metrics) observe(operation string, err error, took time.Duration) {
	outcome := "ok"
	switch {
	case m == nil, errors.Is(err, context.Canceled):
		return
	case errors.Is(err, fs.ErrNotExist):
		outcome = "missing"
	case err != nil:
		outcome = "failed"
	}
	m.requests.WithLabelValues(operation, outcome).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
}
