package server

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"arbor/internal/admission"
)

// metrics are the Prometheus metrics served on --admin-listen.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	ssh      *prometheus.CounterVec
}

func newMetrics(s *Server, p *parts) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "arbor_http_requests_total", Help: "Requests served, by route, method and status."},
			[]string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "arbor_http_request_duration_seconds",
			Help:    "Time from a request's header to the end of its answer, by route.",
			Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10, 60}},
			[]string{"route"}),
	}
	m.ssh = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "arbor_ssh_requests_total",
		Help: "Commands served over SSH, by service and by the status that HTTP would give."},
		[]string{"service", "status"})
	for _, service := range []string{"git-upload-pack", "git-receive-pack"} {
		m.ssh.WithLabelValues(service, "200") // start at 0, so that alerts find the series
	}
	m.registry.MustRegister(m.requests, m.duration, m.ssh,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "arbor_http_requests_in_flight", Help: "Requests being served."},
			func() float64 { return float64(s.inFlight.Load()) }),
		p, admitted{s.control}, s.forge.Files.Metrics, s.forge.Packs)
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "arbor_nodes", Help: "Nodes that serve the database, this one included."},
			func() float64 { return float64(1 + s.o.Node.Others()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "arbor_clock_skew_seconds",
			Help: "How far this machine's clock is ahead of the database's."},
			func() float64 { return s.o.Node.Skew().Seconds() }))
	return m
}

// admitted collects the metrics of admission and connections.
type admitted struct{ control *admission.Control }

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("arbor_admission_"+name, help, labels, nil)
}

var (
	heldBytes    = described("held_bytes", "Memory that requests hold.", "kind")
	mostBytes    = described("most_bytes", "Memory that requests may hold.", "kind")
	heldRequests = described("held_requests",
		"Requests that compute (turn), searches in the database (search), searches of histories and files (scan), pushes and files that come in (upload), clients that shake hands over SSH (handshake), images of other hosts that are fetched (image), files that are written to the storage of --objects (depot).", "kind")
	mostRequests  = described("most_requests", "Requests that may do so at one time.", "kind")
	waitingCount  = described("waiting", "Requests that wait for memory, or for their turn.", "kind")
	refusedCount  = described("refused_total", "Requests refused after waiting.", "kind")
	admittedCount = described("admitted_total", "Times that memory or a turn was given.", "kind")
	openConns     = described("connections", "Connections that are open.")
	turnedConns   = described("connections_turned_away_total", "Connections that were one too many, or gave way to others while they were silent.")
)

// Describe implements prometheus.Collector.
func (a admitted) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(a, to) }

// Collect implements prometheus.Collector.
func (a admitted) Collect(to chan<- prometheus.Metric) {
	for _, u := range a.control.Usage() {
		held, most := heldBytes, mostBytes
		if u.Counted {
			held, most = heldRequests, mostRequests
		}
		to <- prometheus.MustNewConstMetric(held, prometheus.GaugeValue, float64(u.Held), u.Kind)
		to <- prometheus.MustNewConstMetric(most, prometheus.GaugeValue, float64(u.Most), u.Kind)
		to <- prometheus.MustNewConstMetric(waitingCount, prometheus.GaugeValue, float64(u.Waiting), u.Kind)
		to <- prometheus.MustNewConstMetric(admittedCount, prometheus.CounterValue,
			float64(u.Admitted), u.Kind)
		to <- prometheus.MustNewConstMetric(refusedCount, prometheus.CounterValue, float64(u.Refused), u.Kind)
	}
	open, turned := a.control.Open()
	to <- prometheus.MustNewConstMetric(openConns, prometheus.GaugeValue, float64(open))
	to <- prometheus.MustNewConstMetric(turnedConns, prometheus.CounterValue, float64(turned))
}

// handler returns the handler of /metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// routeMetrics caches the counters of one route.
type routeMetrics struct {
	m        *metrics
	route    string
	duration prometheus.Observer
	counters *sync.Map // from methodStatus to prometheus.Counter
}

type methodStatus struct {
	method string
	status int
}

// notImplementedLabel is the route label of all GitHub endpoints that are not implemented.
const notImplementedLabel = "lacking"

func (m *metrics) route(pattern string) routeMetrics {
	return routeMetrics{m, pattern, m.duration.WithLabelValues(pattern), &sync.Map{}}
}

func (r *routeMetrics) observe(method string, status int, took time.Duration) {
	r.duration.Observe(took.Seconds())
	switch method {
	case "GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS":
	default:
		method = "other" // one series for all unknown methods
	}
	key := methodStatus{method, status}
	c, ok := r.counters.Load(key)
	if !ok {
		c, _ = r.counters.LoadOrStore(key,
			r.m.requests.WithLabelValues(r.route, method, strconv.Itoa(status)))
	}
	c.(prometheus.Counter).Inc()
}
