package db

import "sync"

// bells are channels by topic, each with room for one ring.
type bells struct {
	mu sync.Mutex
	of map[string]chan struct{}
}

func (b *bells) get(topic string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[string]chan struct{}{}
	}
	if b.of[topic] == nil {
		b.of[topic] = make(chan struct{}, 1)
	}
	return b.of[topic]
}

func (b *bells) ring(topic string) {
	select {
	case b.get(topic) <- struct{}{}:
	default:
	}
}

// Bell returns the channel that one worker of this process receives from when a topic is rung. Several
// rings before a receive are one. It does not cover other processes, so the worker must also poll
// occasionally.
func (d *DB) Bell(topic string) <-chan struct{} { return d.bells.get(topic) }

// Ring wakes the worker that hears the topic's bell, at once.
func (d *DB) Ring(topic string) { d.bells.ring(topic) }

// Ring wakes the worker that hears the topic's bell, after the commit.
func (t *Tx) Ring(topic string) {
	bells := t.bells
	t.OnCommit(func() { bells.ring(topic) })
}
