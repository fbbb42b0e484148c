//go:build long

package bench

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/docs"
)

// How people work. Nobody knows your people: change these, and run the benchmark.
const (
	peakShare    = 0.2 // of a day's requests in its busiest hour; in eight equal hours of work it would be 0.125
	mostBusy     = 0.7 // of the processors in that hour: what is left takes bursts, and the work of a node that fails
	mostP99      = 300 * time.Millisecond
	reposPer     = 3 // repositories a person: they cost disk, and no processor time while nobody asks for them
	pushes       = 5 // a person in a day
	jobsPerDay   = 4 * pushes
	readsPerJob  = 20 // of the API, by the runner and its tools
	statesPerJob = 3  // queued, running, done
)

// class is a kind of request.
type class struct {
	name   string
	write  bool
	cost   cost          // as part costs of BenchmarkBounds measures it, reads after a commit: others write all the time
	wait   time.Duration // without processor time: round trips to the database, and a commit on two machines
	person float64       // how many a person makes in a day of work
}

const (
	readWait  = 2 * time.Millisecond
	writeWait = 10 * time.Millisecond
)

// The day of a person: pages and editors read, some tools poll, and CI multiplies what is pushed.
var classes = []class{
	{"page", false, cost{2.8, 1.4}, readWait, 100},
	{"issue", false, cost{0.30, 0.32}, readWait, 100 + jobsPerDay*readsPerJob}, // stands for all reads of one thing
	{"list", false, cost{0.50, 0.48}, readWait, 100},
	{"tree", false, cost{0.41, 0.44}, readWait, 50},
	{"fetch", false, cost{2.3, 0.51}, readWait, 30}, // editors fetch in the background
	{"clone", false, cost{2.8, 0.91}, readWait, jobsPerDay - pushes},
	{"first clone", false, cost{18, 6.6}, readWait, pushes}, // of a commit; the other jobs get the same pack
	{"status", true, cost{1.4, 2.0}, writeWait, jobsPerDay * statesPerJob},
	{"comment", true, cost{2.3, 3.6}, writeWait, 10},
	{"issue created", true, cost{1.7, 2.7}, writeWait, 1},
	{"push", true, cost{22, 8.6}, writeWait, pushes},
	{"file written", true, cost{8.0, 9.4}, writeWait, 1},
	{"pull request", true, cost{26, 25}, writeWait, 1}, // made and merged
}

// BenchmarkCapacity prints how many people some nodes and one PostgreSQL carry in the busiest hour, by a
// simulation of queues: each request needs half of its time on its node, then PostgreSQL, then its node again.
// Times are exponentially distributed, and so are the times between requests. The table is that of
// docs/scaling.md.
func BenchmarkCapacity(b *testing.B) {
	var table strings.Builder
	table.WriteString("| PostgreSQL | nodes | people | repositories | CI jobs a day | requests a second | writes a second | " +
		"PostgreSQL busy | nodes busy | p99 of reads | p99 of writes |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range []site{{2, 1, 2}, {2, 2, 2}, {4, 2, 4}, {8, 3, 4}, {16, 4, 8}, {32, 6, 8}} {
		people := s.most()
		o := s.run(people)
		fmt.Fprintf(&table, "| %d cores | %d of %d cores | %d | %d | %d | %.0f | %.1f | %.0f %% | %.0f %% | %.0f ms | %.0f ms |\n",
			s.postgres, s.nodes, s.cores, people, people*reposPer, people*jobsPerDay, o.rate, o.writes,
			100*o.postgres, 100*o.node, o.reads99, o.writes99)
	}
	fmt.Fprintln(os.Stdout, "\n"+table.String())
	if text, err := docs.Files.ReadFile("scaling.md"); err != nil || !strings.Contains(string(text), table.String()) {
		b.Errorf("docs/scaling.md has another table: %v", err)
	}
}

// site is so many cores of PostgreSQL, and nodes with so many cores each.
type site struct{ postgres, nodes, cores int }

// outcome is a simulated busiest hour: rates a second, parts of all processor time, milliseconds.
type outcome struct{ rate, writes, postgres, node, reads99, writes99 float64 }

func (o outcome) good() bool {
	most := float64(mostP99.Milliseconds())
	return o.postgres <= mostBusy && o.node <= mostBusy && o.reads99 <= most && o.writes99 <= most
}

// most returns how many people the site carries, to two digits.
func (s site) most() int {
	low, high := 0, 1
	for s.run(high).good() {
		low, high = high, 2*high
	}
	for high-low > max(1, low/50) {
		if middle := (low + high) / 2; s.run(middle).good() {
			low = middle
		} else {
			high = middle
		}
	}
	digit := int(math.Pow10(max(0, len(fmt.Sprint(low))-2)))
	return low / digit * digit
}

// visit is a request under way, and event the end of a stage of it.
type visit struct {
	class *class
	node  int
	stage int // 0 and 2 on the node, 1 in PostgreSQL
	began float64
}

type event struct {
	at float64
	of *visit // nil: the next request comes
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// queue is a machine: who comes first is served first, by the first core that is free.
type queue struct {
	free    int
	waiting []*visit
	busy    float64 // seconds of all cores
}

const simulated = 50_000 // requests of each run

// run simulates a part of the busiest hour of so many people. Its times are in seconds.
func (s site) run(people int) outcome {
	random := rand.New(rand.NewPCG(1, 2))
	rates, total := make([]float64, len(classes)), 0.0
	for i, c := range classes {
		total += c.person * float64(people) * peakShare / 3600
		rates[i] = total
	}
	machines := make([]queue, 1+s.nodes) // PostgreSQL first
	for i := range machines {
		machines[i].free = s.cores
	}
	machines[0].free = s.postgres
	var ahead events
	var took [2][]float64
	at, writes := 0.0, 0
	machineOf := func(v *visit) (machine *queue, mean float64) {
		if v.stage == 1 {
			return &machines[0], v.class.cost.postgres
		}
		return &machines[1+v.node], v.class.cost.node / 2
	}
	serve := func(v *visit) {
		machine, mean := machineOf(v)
		if machine.free == 0 {
			machine.waiting = append(machine.waiting, v)
			return
		}
		machine.free--
		seconds := random.ExpFloat64() * mean / 1000
		machine.busy += seconds
		heap.Push(&ahead, event{at + seconds, v})
	}
	heap.Push(&ahead, event{})
	for n := 0; n < simulated; {
		next := heap.Pop(&ahead).(event)
		at = next.at
		v := next.of
		if v == nil {
			i, _ := slices.BinarySearch(rates, random.Float64()*total)
			serve(&visit{class: &classes[i], node: random.IntN(s.nodes), began: at})
			heap.Push(&ahead, event{at + random.ExpFloat64()/total, nil})
			continue
		}
		machine, _ := machineOf(v)
		machine.free++
		if len(machine.waiting) > 0 {
			first := machine.waiting[0]
			machine.waiting = machine.waiting[1:]
			serve(first)
		}
		if v.stage++; v.stage < 3 {
			serve(v)
			continue
		}
		n++
		kind := 0
		if v.class.write {
			kind = 1
			writes++
		}
		took[kind] = append(took[kind], 1000*(at-v.began)+v.class.wait.Seconds()*1000)
	}
	o := outcome{rate: simulated / at, writes: float64(writes) / at, postgres: machines[0].busy / at / float64(s.postgres),
		reads99: p99(took[0]), writes99: p99(took[1])}
	for _, m := range machines[1:] {
		o.node += m.busy / at / float64(s.nodes*s.cores)
	}
	return o
}

func p99(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)*99/100]
}
