package server

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// cached is implemented by parts of the server that have caches.
type cached interface {
	Caches() []cache.Stats
}

// worker is implemented by parts of the server that process a job table.
type worker interface {
	Backlog(tx *db.Tx) (db.Backlog, error)
}

// parts collects the metrics of git's processes, caches, the database, jobs and the log.
type parts struct {
	s       *Server
	caches  []cached
	workers map[string]worker
}

// collected holds the descriptions of all metrics of parts.
var collected []*prometheus.Desc

func desc(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("arbor_"+name, help, labels, nil)
	collected = append(collected, d)
	return d
}

var (
	gitStarted = desc("git_processes_started_total", "Processes of git that were started.", "command")
	gitRunning = desc("git_processes", "Processes of git that run.", "command")
	gitEnded   = desc("git_processes_ended_total",
		"Processes of git that were killed: by a limit, or because the request had ended.", "command")
	poolProcesses = desc("git_pool_processes",
		"Processes of git cat-file in the pool, busy or idle.", "state")
	poolWaiting = desc("git_pool_waiting", "Readers that wait for a process of the pool.")

	cacheEntries = desc("cache_entries", "Values that a cache keeps.", "cache")
	cacheHeld    = desc("cache_held",
		"What they cost: bytes, or 1 each where the limit is a number of values.", "cache")
	cacheLimit  = desc("cache_limit", "What they may cost.", "cache")
	cacheHits   = desc("cache_hits_total", "Values that were found.", "cache")
	cacheMisses = desc("cache_misses_total", "Values that were not found.", "cache")

	dbSeconds = desc("db_transaction_duration_seconds",
		"Time of transactions, with the wait for their turn.", "kind")
	dbUnderWay = desc("db_transactions", "Transactions under way, those that wait included.", "kind")
	dbFailed   = desc("db_transactions_failed_total",
		"Transactions that ended with an error, also one of the caller's.", "kind")
	dbWaiting = desc("db_writes_waiting", "Writes that wait for their turn (SQLite).")
	dbConns   = desc("db_connections", "Connections to the database, busy or idle (SQLite: of readers).",
		"state")
	dbMost     = desc("db_connections_limit", "Connections that there may be.")
	dbConnWait = desc("db_connections_waiting", "Transactions that wait for a connection.")
	dbReplica  = desc("db_replica_reads_total",
		"Reads that --replica might have served: it did (replica), or the database did, since the replica lagged "+
			"(behind), did not answer (failed), or had done either just before (left alone).", "outcome")

	jobsPending = desc("jobs_pending", "Jobs that are left, up to 10000.", "kind")
	jobsRetried = desc("jobs_retried", "Jobs among them that failed before.", "kind")
	jobsOldest  = desc("jobs_oldest_seconds", "For how long the oldest of them has been due.", "kind")

	mailTries = desc("mail_tries_total",
		"What became of mails: sent, failed (and tried again), dropped, unreachable (the mail server).", "outcome")

	directoryAsked = desc("directory_sign_ins_total",
		"Names and passwords that directories (LDAP) were asked for: right, wrong, failed (it could not be asked).",
		"directory", "outcome")

	brokenFolders = desc("repositories_broken",
		"Repositories that were asked for and whose folder is missing or cannot be used, see arbor check.")

	backupAge = desc("backup_age_seconds",
		"Time since the moment that the last whole backup holds; +Inf: there is none.")
)

// Describe implements prometheus.Collector. It does not query the database.
func (p *parts) Describe(to chan<- *prometheus.Desc) {
	for _, d := range collected {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (p *parts) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	for command, n := range p.s.o.Git.Processes() {
		counter(gitStarted, n.Started, command)
		gauge(gitRunning, n.Running, command)
		counter(gitEnded, n.Ended, command)
	}
	busy, idle, waiting := p.s.o.Git.Pool()
	gauge(poolProcesses, int64(busy), "busy")
	gauge(poolProcesses, int64(idle), "idle")
	gauge(poolWaiting, int64(waiting))
	for _, part := range p.caches {
		for _, c := range part.Caches() {
			gauge(cacheEntries, c.Entries, c.Name)
			gauge(cacheHeld, c.Held, c.Name)
			gauge(cacheLimit, c.Most, c.Name)
			counter(cacheHits, c.Hits, c.Name)
			counter(cacheMisses, c.Misses, c.Name)
		}
	}
	for outcome, n := range p.s.mails.Outcomes() {
		counter(mailTries, n, outcome)
	}
	for _, d := range p.s.directories.Directories() {
		for outcome, n := range d.Outcomes() {
			counter(directoryAsked, n, d.Name, outcome)
		}
	}
	p.collectDB(to, gauge, counter)
	p.collectJobs(gauge)
	p.collectBroken(gauge)
	p.collectBackup(to)
}

type collect func(d *prometheus.Desc, v int64, labels ...string)

// collectDB collects the database's metrics, without queries.
func (p *parts) collectDB(to chan<- prometheus.Metric, gauge, counter collect) {
	for _, t := range p.s.o.DB.Transactions() {
		gauge(dbUnderWay, t.UnderWay, t.Kind)
		counter(dbFailed, t.Failed, t.Kind)
		buckets, total := map[float64]uint64{}, uint64(0)
		for i, n := range t.Counts {
			if total += uint64(n); i < len(db.Bounds) {
				buckets[db.Bounds[i].Seconds()] = total
			}
		}
		to <- prometheus.MustNewConstHistogram(dbSeconds, total, t.Sum.Seconds(), buckets, t.Kind)
	}
	gauge(dbWaiting, int64(p.s.o.DB.WritesWaiting()))
	c := p.s.o.DB.Connections()
	gauge(dbConns, c.Busy, "busy")
	gauge(dbConns, c.Idle, "idle")
	gauge(dbMost, c.Most)
	gauge(dbConnWait, c.Waiting)
	for outcome, n := range p.s.o.DB.ReplicaReads() {
		counter(dbReplica, n, outcome)
	}
}

// collectTime limits each query for metrics. If it is exceeded, the other metrics are still served.
const collectTime = 2 * time.Second

// collectJobs queries the backlogs of the job tables.
func (p *parts) collectJobs(gauge collect) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	found, now, err := p.backlogs(ctx)
	if err != nil {
		p.s.log.LogAttrs(ctx, slog.LevelWarn, "the metrics lack the jobs", slog.Any("error", err))
		return
	}
	for kind, b := range found {
		gauge(jobsPending, b.Pending, kind)
		gauge(jobsRetried, b.Retried, kind)
		due := time.Duration(0)
		if b.Oldest != 0 {
			due = max(0, now.Time().Sub(b.Oldest.Time()))
		}
		gauge(jobsOldest, int64(due.Seconds()), kind)
	}
}

// collectBroken counts the repositories whose directory is missing or unreadable.
func (p *parts) collectBroken(gauge collect) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	n, err := p.s.forge.Repos.CountBroken(ctx)
	if err != nil {
		p.s.log.LogAttrs(ctx, slog.LevelWarn, "the metrics lack the broken repositories", slog.Any("error", err))
		return
	}
	gauge(brokenFolders, int64(n))
}

// collectBackup queries the age of the last backup.
func (p *parts) collectBackup(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	var last, now db.Time
	err := p.s.o.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if last, err = repo.LastBackup(tx); err == nil {
			now, err = tx.Clock()
		}
		return err
	})
	if err != nil {
		p.s.log.LogAttrs(ctx, slog.LevelWarn, "the metrics lack the age of the backup", slog.Any("error", err))
		return
	}
	age := math.Inf(1)
	if last != 0 {
		age = now.Time().Sub(last.Time()).Seconds()
	}
	to <- prometheus.MustNewConstMetric(backupAge, prometheus.GaugeValue, age)
}

// backlogs returns the backlog of each kind of job, and the database's time.
func (p *parts) backlogs(ctx context.Context) (found map[string]db.Backlog, now db.Time, err error) {
	err = p.s.o.DB.ReadLong(ctx, func(tx *db.Tx) (err error) {
		found = map[string]db.Backlog{}
		if now, err = tx.Clock(); err != nil {
			return err
		}
		for kind, w := range p.workers {
			if found[kind], err = w.Backlog(tx); err != nil {
				return err
			}
		}
		return nil
	})
	return found, now, err
}
