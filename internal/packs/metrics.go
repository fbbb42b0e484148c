package packs

import "github.com/prometheus/client_golang/prometheus"

// Where packs that a cache lacked came from.
const (
	fromDepot    = "depot"
	fromDatabase = "database"
	fromDisk     = "disk" // another repository's folder
)

// counters count what the cache does.
type counters struct {
	fetched *prometheus.CounterVec
	evicted prometheus.Counter
	bundles prometheus.Counter
	bytes   *prometheus.Desc
	folders *prometheus.Desc
}

func newCounters() counters {
	c := counters{
		fetched: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "arbor_packs_fetched_total",
			Help: "Packs that came into the cache of repositories, by where they were: depot, database, or disk (a fork's " +
				"or parent's folder)."}, []string{"from"}),
		evicted: prometheus.NewCounter(prometheus.CounterOpts{Name: "arbor_pack_cache_evictions_total",
			Help: "Repositories that were removed from the cache."}),
		bundles: prometheus.NewCounter(prometheus.CounterOpts{Name: "arbor_bundles_offered_total",
			Help: "Clients that were given the address of a bundle, from which they download most of a clone."}),
		bytes: prometheus.NewDesc("arbor_pack_cache_bytes",
			"Bytes of packs in the cache of repositories.", nil, nil),
		folders: prometheus.NewDesc("arbor_pack_cache_repositories", "Repositories in the cache.", nil, nil),
	}
	for _, from := range []string{fromDepot, fromDatabase, fromDisk} {
		c.fetched.WithLabelValues(from)
	}
	return c
}

// Describe implements prometheus.Collector.
func (s *Service) Describe(to chan<- *prometheus.Desc) {
	s.counters.fetched.Describe(to)
	s.counters.evicted.Describe(to)
	s.counters.bundles.Describe(to)
	to <- s.counters.bytes
	to <- s.counters.folders
}

// Collect implements prometheus.Collector.
func (s *Service) Collect(to chan<- prometheus.Metric) {
	s.counters.fetched.Collect(to)
	s.counters.evicted.Collect(to)
	s.counters.bundles.Collect(to)
	list, total := s.bySize()
	to <- prometheus.MustNewConstMetric(s.counters.bytes, prometheus.GaugeValue, float64(total))
	to <- prometheus.MustNewConstMetric(s.counters.folders, prometheus.GaugeValue, float64(len(list)))
}
